/// Rank orders by distance, one for each class of block sizes.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The rank order for each class of block sizes: an order that suits small blocks, where latency
/// counts, may be slow for large ones, where bandwidth does. Alike on all ranks.
class RankOrders {
 public:
  /// The representative block of each class, in bytes. Blocks of up to 4 times its size belong to a
  /// class, all larger ones to the last.
  static constexpr std::array<Bytes, 4> blocks = {64, 1 << 10, 16 << 10, 256 << 10};

  /// The rank at each position, by class.
  explicit RankOrders(std::array<std::vector<Rank>, blocks.size()> ranks)
      : ranks_(std::move(ranks)) {}

  /// The class of blocks of `block` bytes.
  [[nodiscard]] static int class_of(Bytes block) {
    std::size_t found = 0;
    while (found + 1 < blocks.size() && block > 4 * blocks[found]) ++found;
    return static_cast<int>(found);
  }
  /// The class of blocks whose sizes the other ranks do not know.
  static constexpr int any_class = 2;

  [[nodiscard]] const std::vector<Rank>& of_class(int number) const {
    return ranks_[index(number)];
  }
  /// The order for blocks of `block` bytes.
  [[nodiscard]] const std::vector<Rank>& of(Bytes block) const { return of_class(class_of(block)); }

 private:
  std::array<std::vector<Rank>, blocks.size()> ranks_;
};

}  // namespace tutti
