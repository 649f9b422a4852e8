/// The settings that users make by environment, as data.
#pragma once

#include <span>
#include <string_view>

namespace tutti {

/// One line of settings.inc.
struct SettingInfo {
  std::string_view name;
  std::string_view by_default;
  std::string_view accepted;
  std::string_view meaning;
};

/// All of them, in the sequence of settings.inc.
[[nodiscard]] std::span<const SettingInfo> all_settings();

/// Is this variable known? The names in settings.inc, and those that only the commands and the
/// modulefile use.
[[nodiscard]] bool is_setting(std::string_view name);

}  // namespace tutti
