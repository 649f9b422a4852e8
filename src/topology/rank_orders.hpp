/// Rank orders by distance, one for each class of block sizes.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The rank order for each class of block sizes: an order that suits small blocks, where latency
/// counts, may be slow for large ones, where bandwidth does. Alike on all ranks.
struct RankOrders {
  /// The representative block of each class, in bytes: 64, 1 Ki, 16 Ki, 256 Ki. Blocks of up to 4
  /// times its size belong to a class, which holds 4 size classes; all larger ones to the last.
  static constexpr std::array<Bytes, 4> blocks = {largest_of(7), largest_of(11), largest_of(15),
                                                  largest_of(19)};
  /// The class of calls whose blocks differ, and of those without blocks.
  static constexpr int any_class = 2;

  /// The class of blocks of `block` bytes.
  [[nodiscard]] static constexpr int class_of(Bytes block) {
    const SizeClass first = tutti::class_of(blocks[0]) - 1;
    return std::clamp((tutti::class_of(block) - first) / 4, 0, static_cast<int>(blocks.size()) - 1);
  }
  /// Do calls of a collective belong to classes by their blocks?
  [[nodiscard]] static constexpr bool has_classes(Collective collective) {
    return !is_irregular(collective) && block_kind(collective) != BlockKind::none;
  }
  /// The class of a call of a collective.
  [[nodiscard]] static constexpr int class_of(Collective collective, Bytes block) {
    return has_classes(collective) ? class_of(block) : any_class;
  }
  /// The order for blocks of `block` bytes.
  [[nodiscard]] const std::vector<Rank>& of(Bytes block) const {
    return of_class[index(class_of(block))];
  }

  /// The rank at each position, by class.
  std::array<std::vector<Rank>, blocks.size()> of_class;
};

}  // namespace tutti
