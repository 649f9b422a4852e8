/// The settings that users make by environment, as data.
#pragma once

#include <span>
#include <string>
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

/// The name that `name` had in the version before, which is still accepted; empty where it is new.
[[nodiscard]] std::string_view former_name_of(std::string_view name);

/// Is this variable known? The names in settings.inc, former ones included, and those that only the
/// commands and the modulefile use.
[[nodiscard]] bool is_setting(std::string_view name);

/// What to say of a variable that is not: its name, the nearest setting and where to find them all.
[[nodiscard]] std::string unknown_setting(std::string_view name);

}  // namespace tutti
