/// The table of settings in the environment.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// One line of settings.inc, or the setting of a collective.
struct SettingInfo {
  std::string name;
  std::string_view by_default;
  std::string_view accepted;
  std::string meaning;
  std::string_view former = {};  ///< see former_name_of
};

/// All settings, in the sequence of settings.inc.
[[nodiscard]] std::span<const SettingInfo> all_settings();

/// The name of a collective's setting, such as "TUTTI_GATHERV".
[[nodiscard]] std::string setting_name(Collective collective);

/// The name of the setting `name` in the previous version, which is still accepted; empty if the
/// name has not changed.
[[nodiscard]] std::string_view former_name_of(std::string_view name);

/// True for a known variable: the names in all_settings(), former ones, and those that only the
/// commands and the modulefile use.
[[nodiscard]] bool is_setting(std::string_view name);

/// The value of a setting that is on or off, in any case: on, 1, true, yes or off, 0, false, no.
[[nodiscard]] Result<bool> switched(std::string_view text);

/// The message for an unknown variable: its name, the nearest setting and where to find the list.
[[nodiscard]] std::string unknown_setting(std::string_view name);

}  // namespace tutti
