/// Draws trees as text, as in the comments of this project.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tutti {

/// A tree of nodes with any integers as names; each node is reached once from the root.
struct TreeShape {
  int root = 0;
  std::function<std::vector<int>(int)> children;
  std::function<std::string(int)> label;
};

/// One line per leaf, the first child beside its parent and the others below it. Lines have no
/// indent and no trailing spaces. O(nodes * depth).
///
///     0 -+- 1
///        +- 2 -+- 3
///        |     +- 4
///        +- 5 --- 6
[[nodiscard]] std::string to_text(const TreeShape& tree);

}  // namespace tutti
