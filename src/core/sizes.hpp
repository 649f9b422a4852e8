/// What one rank knows of the sizes of the blocks.
#pragma once

#include <memory>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// Sizes of ranges of blocks, by position. One rank may know that all are equal, all of them,
/// or only those of some disjoint ranges (its own and its subtrees').
class Sizes {
 public:
  struct Known {
    BlockRange blocks;
    Bytes bytes = 0;
  };

  /// Every block has `each` bytes. O(1) memory.
  static Sizes equal(Bytes each);
  /// All sizes, `by_rank[i]` that of rank i, seen in `order`. O(p) memory and time.
  static Sizes all(const std::vector<Bytes>& by_rank, const Order& order);
  /// Only the sizes of these disjoint ranges, in any sequence.
  static Sizes some(std::vector<Known> known);

  /// The bytes of all blocks in `blocks`, which must be made up of known ranges.
  /// O(1) for equal and all, O(known ranges) otherwise.
  [[nodiscard]] Bytes of(BlockRange blocks) const;

 private:
  enum class Kind : std::uint8_t { equal, all, some };
  Kind kind_ = Kind::equal;
  Bytes each_ = 0;
  std::shared_ptr<const std::vector<Bytes>> prefix_;
  std::vector<Known> known_;
};

}  // namespace tutti
