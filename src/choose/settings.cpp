/// The table of settings.
#include "choose/settings.hpp"

namespace tutti {

std::span<const SettingInfo> all_settings() {
  static constexpr SettingInfo settings[] = {
#define TUTTI_SETTING(name, by_default, accepted, meaning) {name, by_default, accepted, meaning},
#include "choose/settings.inc"
#undef TUTTI_SETTING
  };
  return settings;
}

}  // namespace tutti
