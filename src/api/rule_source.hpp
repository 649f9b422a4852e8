/// The rules that this process knows, from files.
#pragma once

#include <string>
#include <vector>

#include "select/rules.hpp"

namespace tutti {

struct KnownRules {
  Rules rules;                        ///< of all files, in the sequence of rule_files
  std::string error;                  ///< why the file that TUTTI_RULES names cannot be used
  std::vector<std::string> warnings;  ///< a line for each other file that is ignored
};

/// Read at the first call, by rank 0 of a communicator only.
[[nodiscard]] const KnownRules& known_rules();

}  // namespace tutti
