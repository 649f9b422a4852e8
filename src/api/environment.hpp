/// The user's settings (listed in select/settings.inc): their values, what is wrong with them, and
/// those of TUTTI_Algorithm_set.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/staging.hpp"
#include "cost/machine.hpp"
#include "select/selection.hpp"
#include "select/tuner.hpp"

namespace tutti {

/// Environment variables by name.
using Variables = std::map<std::string, std::string, std::less<>>;

/// Settings that all ranks of a communicator have from its rank 0, as bytes.
struct SharedSettings {
  bool background = false;
  bool reproducible = false;
  bool split_user_ops = false;
  Bytes node_memory = Bytes{64} << 20;
  Bytes memory = default_staging;        ///< bytes that a rank may stage in one call; 0: no bound
  double explore = default_exploration;  ///< fraction of the time in a collective; 0: none
  Machine machine;
};

struct Environment : SharedSettings {
  bool on = true;  ///< also if TUTTI is off and a report is requested: all calls are native then
  bool verbose = false;
  PerCollective<Setting> settings;
  std::string report;                 ///< "-", a file, or empty for none
  std::string distances;              ///< a file, or empty for none
  std::string rules;                  ///< a file, "none", or empty: see rule_files
  std::string nodes;                  ///< emulated nodes, or empty
  bool keeps = false;                 ///< what was learned, for later runs
  std::vector<std::string> warnings;  ///< unknown TUTTI_ names, an unusable cache
  std::string error;                  ///< variable, value and accepted values; empty if none
};

/// The settings in these variables. Reads the machine file that they name, else that of the user's
/// cache folder. The files of TUTTI_DISTANCES and TUTTI_RULES are read at their first use.
[[nodiscard]] Environment read_settings(const Variables& variables);

/// The settings in the environment of this process. Read once, at the first call.
[[nodiscard]] const Environment& environment();

/// Writes errors of the settings to standard error, and all settings if TUTTI_VERBOSE is on, once
/// in a process. Returns a number that is the same for equal settings. For rank 0 of a
/// communicator.
std::uint64_t report_environment();
/// A rank 0 whose settings have this number has written the messages: this process omits them.
void suppress_environment_report(std::uint64_t by_rank_0);

/// Applies a setting of TUTTI_Algorithm_set, which overrules the environment's from then on.
void overrule(Collective collective, const Setting& setting);
/// The setting that overrules, if there is one.
[[nodiscard]] std::optional<Setting> overrule_of(Collective collective);
/// How often the setting was overruled. One-sided ones may be overruled on one rank alone.
[[nodiscard]] unsigned times_overruled(Collective collective);
/// The setting in force in this process: the environment's unless overruled.
[[nodiscard]] Setting setting_in_force(Collective collective);

}  // namespace tutti
