/// The table of settings.
#include "choose/settings.hpp"

#include <algorithm>

namespace tutti {

std::span<const SettingInfo> all_settings() {
  static constexpr SettingInfo settings[] = {
#define TUTTI_SETTING(name, by_default, accepted, meaning) {name, by_default, accepted, meaning},
#include "choose/settings.inc"
#undef TUTTI_SETTING
  };
  return settings;
}

bool is_setting(std::string_view name) {
  if (name == "TUTTI_LIBRARY_DIR" || name == "TUTTI_BENCH_MPI") return true;
  const auto settings = all_settings();
  return std::any_of(settings.begin(), settings.end(),
                     [name](const SettingInfo& setting) { return setting.name == name; });
}

}  // namespace tutti
