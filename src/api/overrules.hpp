/// Settings of TUTTI_Algorithm_set.
#pragma once

#include <optional>

#include "select/selection.hpp"

namespace tutti {

/// Applies a setting of TUTTI_Algorithm_set, which overrules the environment's from then on.
void overrule(Collective collective, const Setting& setting);
/// The setting that overrules, if there is one.
[[nodiscard]] std::optional<Setting> overrule_of(Collective collective);
/// How often the setting was overruled. One-sided ones may be overruled on one rank alone.
[[nodiscard]] unsigned times_overruled(Collective collective);
/// The setting in force in this process: the environment's unless overruled.
[[nodiscard]] Setting setting_in_force(Collective collective);

}  // namespace tutti
