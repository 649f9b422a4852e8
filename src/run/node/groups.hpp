/// Finds the group of a node, such as a NUMA memory, to which a process is bound.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace tutti {

/// Parses a Linux list of processors, such as "0-3,8", into ascending numbers. Empty if it is
/// malformed.
[[nodiscard]] std::vector<int> processors_in(std::string_view list);

/// A number that identifies the group of the processors `own` (ascending): the NUMA memory that
/// holds them all or, on a node with one memory, their common third-level cache. -1 if they span
/// several groups or the system gives no data. `root` is the folder of the system's files, /sys.
[[nodiscard]] int group_of_processors(const std::filesystem::path& root,
                                      const std::vector<int>& own);

}  // namespace tutti
