/// Rank orders by distance, one for each class of block sizes.
#pragma once

#include <array>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The rank order for each class of block sizes: an order that suits small blocks, where latency
/// counts, may be slow for large ones, where bandwidth does. Alike on all ranks.
struct RankOrders {
  /// The representative block of each class, in bytes. Blocks of up to 4 times its size belong to a
  /// class, all larger ones to the last.
  static constexpr std::array<Bytes, 4> blocks = {64, 1 << 10, 16 << 10, 256 << 10};
  /// The class of blocks whose sizes the other ranks do not know.
  static constexpr int any_class = 2;

  /// The class of blocks of `block` bytes.
  [[nodiscard]] static int class_of(Bytes block) {
    std::size_t found = 0;
    while (found + 1 < blocks.size() && block > 4 * blocks[found]) ++found;
    return static_cast<int>(found);
  }
  /// The order for blocks of `block` bytes.
  [[nodiscard]] const std::vector<Rank>& of(Bytes block) const {
    return of_class[index(class_of(block))];
  }

  /// The rank at each position, by class.
  std::array<std::vector<Rank>, blocks.size()> of_class;
};

}  // namespace tutti
