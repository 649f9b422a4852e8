/// The table of settings.
#include "select/settings.hpp"

#include <algorithm>
#include <array>

namespace tutti {

std::span<const SettingInfo> all_settings() {
  static constexpr SettingInfo settings[] = {
#define TUTTI_SETTING(name, by_default, accepted, meaning) {name, by_default, accepted, meaning},
#include "select/settings.inc"
#undef TUTTI_SETTING
  };
  return settings;
}

bool is_setting(std::string_view name) {
  constexpr std::array<std::string_view, 3> read_elsewhere = {"TUTTI_LIBRARY_DIR", "TUTTI_LIBRARY",
                                                              "TUTTI_BENCH_MPI"};
  if (std::find(read_elsewhere.begin(), read_elsewhere.end(), name) != read_elsewhere.end()) {
    return true;
  }
  const auto settings = all_settings();
  return std::any_of(settings.begin(), settings.end(),
                     [name](const SettingInfo& setting) { return setting.name == name; });
}

}  // namespace tutti
