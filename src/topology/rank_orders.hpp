/// Orders by distance for blocks of different sizes.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The order of ranks for each class of blocks: what latency decides may be slow where bandwidth
/// counts. Alike on all ranks, whatever they know of a call.
class RankOrders {
 public:
  /// The block that stands for each class: up to four times as large ones belong to it, and all
  /// that are larger than that of the last one to the last.
  static constexpr std::array<Bytes, 4> blocks = {64, 1 << 10, 16 << 10, 256 << 10};

  /// The rank at each position, by class.
  explicit RankOrders(std::array<std::vector<Rank>, blocks.size()> ranks)
      : ranks_(std::move(ranks)) {}

  /// The order for blocks of so many bytes.
  [[nodiscard]] const std::vector<Rank>& of(Bytes block) const {
    std::size_t found = 0;
    while (found + 1 < blocks.size() && block > 4 * blocks[found]) ++found;
    return ranks_[found];
  }
  /// That for blocks whose sizes the ranks do not know of each other.
  [[nodiscard]] const std::vector<Rank>& of_any() const { return ranks_[2]; }

 private:
  std::array<std::vector<Rank>, blocks.size()> ranks_;
};

}  // namespace tutti
