/// The rules that this process knows, from files.
#pragma once

#include <string>
#include <vector>

#include "select/rules.hpp"

namespace tutti {

/// The rules of all files, merged in the sequence of rule_files. Read at the first call, by rank 0
/// of a communicator only.
[[nodiscard]] const Rules& known_rules();
/// Why the file that TUTTI_RULES names cannot be used; empty if it can.
[[nodiscard]] const std::string& rules_error();
/// A line for each other file that is ignored, with the reason.
[[nodiscard]] const std::vector<std::string>& rules_warnings();

}  // namespace tutti
