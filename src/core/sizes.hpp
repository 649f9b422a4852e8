/// What one rank knows of the sizes of the blocks.
#pragma once

#include <memory>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// Sizes of ranges of blocks, by position. One rank may know that all are equal, all of them,
/// or only those of some disjoint ranges (its own and its subtrees') or of its own pairs.
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
  /// A vector of `elements` elements of `unit` bytes, cut into parts that differ by at most one
  /// element. O(1) memory.
  static Sizes parts(Bytes elements, Bytes unit, int parts);
  /// The pairs of `rank`: what it sends to and receives from each rank. O(p) memory and time.
  static Sizes pairs(const std::vector<Bytes>& sent, const std::vector<Bytes>& received,
                     const Order& order, Rank rank);
  /// Only the sizes of these disjoint ranges, in any sequence.
  static Sizes some(std::vector<Known> known);

  /// The bytes of all blocks in `blocks`, which must be made up of known ranges.
  /// O(1) for equal, all and parts, O(blocks) for pairs, O(known ranges) otherwise.
  [[nodiscard]] Bytes of(BlockRange blocks) const;
  /// The same vector in another number of parts; for parts only.
  [[nodiscard]] Sizes cut(int parts) const;

 private:
  enum class Kind : std::uint8_t { equal, all, some, parts, pairs };

  [[nodiscard]] Bytes of_pairs(BlockRange blocks) const;

  Kind kind_ = Kind::equal;
  Bytes each_ = 0;      ///< of a block; parts: of an element
  Bytes elements_ = 0;  ///< parts
  int parts_ = 1;       ///< parts: their number; pairs: the rank's position
  /// all: where each block begins; pairs: bytes sent, then received, by position.
  std::shared_ptr<const std::vector<Bytes>> prefix_;
  std::vector<Known> known_;
};

}  // namespace tutti
