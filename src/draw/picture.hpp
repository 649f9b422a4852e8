/// Trees as text, the way the comments of this project draw them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tutti {

/// A tree as its nodes name each other: any integers, each node reached once from the root.
struct TreeShape {
  int root = 0;
  std::function<std::vector<int>(int)> children;
  std::function<std::string(int)> label;
};

/// One line for each leaf, the first child beside its parent and the others below it. No line
/// ends in a space or is indented. O(nodes * depth).
///
///     0 -+- 1
///        +- 2 -+- 3
///        |     +- 4
///        +- 5 --- 6
[[nodiscard]] std::string to_text(const TreeShape& tree);

}  // namespace tutti
