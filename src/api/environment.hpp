/// What the user set by environment variables (listed in choose/settings.inc).
#pragma once

#include <array>
#include <string>

#include "algorithms/staging.hpp"
#include "choose/choose.hpp"
#include "cost/node_machine.hpp"

namespace tutti {

struct Environment {
  bool on = true;
  bool verbose = false;
  bool background = false;
  bool reproducible = false;
  std::array<Setting, all_collectives.size()> settings;  ///< by collective
  std::string report;                                    ///< "-", a file, or empty for none
  std::string distances;                                 ///< a file, or empty for none
  std::optional<Level> level;  ///< of collectives without a setting of their own; see Setting
  std::string nodes;           ///< emulated ones, or empty
  Bytes node_memory = Bytes{64} << 20;
  Bytes memory = default_staging;  ///< that a rank may stage in one call; 0: no bound
  Machine machine;
  NodeMachine node_machine;
  std::string warning;  ///< of TUTTI_ names that are no settings
  std::string error;  ///< names the variable, the value and what is accepted; empty if all is well
};

/// Read once, at the first call.
[[nodiscard]] const Environment& environment();

}  // namespace tutti
