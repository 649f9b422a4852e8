/// What the user set by environment variables (listed in select/settings.inc).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/staging.hpp"
#include "cost/node_machine.hpp"
#include "select/selection.hpp"

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
  std::optional<Level> level;  ///< of collectives without a setting of their own; see Setting
  std::string nodes;           ///< emulated ones, or empty
  Bytes node_memory = Bytes{64} << 20;
  Bytes memory = default_staging;  ///< that a rank may stage in one call; 0: no bound
  Machine machine;
  NodeMachine node_machine;
  std::vector<std::string> warnings;  ///< of TUTTI_ names that are no settings, of a bad cache file
  std::string error;  ///< names the variable, the value and what is accepted; empty if all is well
};

/// Read once, at the first call.
[[nodiscard]] const Environment& environment();

/// Says on standard error what is wrong with the settings, and all of them where they are to be
/// shown: once in a process. Returns a number that says the same of equal settings. Rank 0 of a
/// communicator calls it.
std::uint64_t report_environment();
/// A rank 0 whose settings have this number has said it: this process need not say it again.
void suppress_environment_report(std::uint64_t by_rank_0);

}  // namespace tutti
