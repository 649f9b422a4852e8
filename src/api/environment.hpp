/// The user's settings in environment variables (listed in select/settings.inc).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/staging.hpp"
#include "cost/node_machine.hpp"
#include "select/selection.hpp"
#include "select/tuner.hpp"

namespace tutti {

struct Environment {
  bool on = true;
  bool verbose = false;
  bool background = false;
  bool reproducible = false;
  bool split_user_ops = false;
  std::array<Setting, all_collectives.size()> settings;  ///< by collective
  std::string report;                                    ///< "-", a file, or empty for none
  std::string distances;                                 ///< a file, or empty for none
  std::string rules;           ///< a file, "none", or empty: see rule_files
  std::optional<Level> level;  ///< for collectives without their own setting; see Setting
  std::string nodes;           ///< emulated nodes, or empty
  Bytes node_memory = Bytes{64} << 20;
  Bytes memory = default_staging;        ///< bytes that a rank may stage in one call; 0: no bound
  double explore = default_exploration;  ///< fraction of the time in a collective; 0: none
  bool keeps = false;                    ///< what was learned, for later runs
  Machine machine;
  NodeMachine node_machine;
  std::vector<std::string> warnings;  ///< unknown TUTTI_ names, an invalid cache file
  std::string error;                  ///< variable, value and accepted values; empty if none
};

/// Read once, at the first call.
[[nodiscard]] const Environment& environment();

/// Writes errors of the settings to standard error, and all settings if TUTTI_VERBOSE is on, once
/// in a process. Returns a number that is the same for equal settings. For rank 0 of a
/// communicator.
std::uint64_t report_environment();
/// A rank 0 whose settings have this number has written the messages: this process omits them.
void suppress_environment_report(std::uint64_t by_rank_0);

}  // namespace tutti
