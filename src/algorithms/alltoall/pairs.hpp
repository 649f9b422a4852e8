/// Messages of many pairs.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// The blocks with these numbers, each given once. O(n log n).
[[nodiscard]] inline Blocks blocks_of(std::vector<BlockIndex> numbers) {
  std::ranges::sort(numbers);
  Blocks blocks;
  for (const BlockIndex number : numbers) blocks.append({number, number + 1});
  return blocks;
}

}  // namespace tutti
