/// One copy of a library for each simulated rank.
#pragma once

#include <string>

namespace tutti::simgrid {

/// Loads a further copy of the library at `path`, with variables of its own: all simulated ranks
/// share one process, but each must have the state of a process. Copies share the pages that they
/// do not write, so each costs the size of its variables.
/// The copy is a file in `folder` only until it is loaded.
/// Returns the handle for dlsym(); on failure null, with the reason in `why`. Costs O(size of the
/// library).
[[nodiscard]] void* load_copy(const std::string& path, const std::string& folder, std::string& why);

}  // namespace tutti::simgrid
