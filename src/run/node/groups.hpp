/// Where on its node a process is, as far as it is bound there.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace tutti {

/// The numbers of a list of processors as Linux writes it, such as "0-3,8"; empty where it is none.
[[nodiscard]] std::vector<int> processors_in(std::string_view list);

/// A number that processes of this machine have in common whose processors (`own`, ascending)
/// belong together: to the same memory where there are several (NUMA), else to the same cache of
/// the third level. -1 where the process may run anywhere, or nothing is known. `root` is the
/// folder of the system's files, /sys.
[[nodiscard]] int group_of_processors(const std::filesystem::path& root,
                                      const std::vector<int>& own);

/// That of the calling process as it is bound now.
[[nodiscard]] int group_on_node(const std::filesystem::path& root);

}  // namespace tutti
