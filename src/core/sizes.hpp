/// The block sizes that one rank knows.
#pragma once

#include <memory>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// Sizes of ranges of blocks, by position. A rank knows one size for all blocks, the size of every
/// block, the sizes of its own pairs, or those of some disjoint ranges (its own block and its
/// subtrees).
class Sizes {
 public:
  struct Known {
    BlockRange blocks;
    Bytes bytes = 0;
  };

  /// Every block has `each` bytes. O(1) memory.
  static Sizes equal(Bytes each);
  /// All sizes: `by_rank[i]` is that of rank i, and `order` its position. O(p) memory and time.
  static Sizes all(const std::vector<Bytes>& by_rank, const Order& order);
  /// A vector of `elements` elements of `unit` bytes, cut into parts that differ by at most one
  /// element. O(1) memory.
  static Sizes parts(Bytes elements, Bytes unit, int parts);
  /// The pairs of `rank`: the bytes that it sends to and receives from each rank. O(p) memory and
  /// time.
  static Sizes pairs(const std::vector<Bytes>& sent, const std::vector<Bytes>& received,
                     const Order& order, Rank rank);
  /// Only the sizes of these disjoint ranges, in any sequence.
  static Sizes some(std::vector<Known> known);

  /// The bytes of `blocks`, which must consist of known ranges.
  /// O(1) for equal, all and parts, O(blocks) for pairs, O(known ranges) otherwise.
  [[nodiscard]] Bytes of(BlockRange blocks) const;
  /// The same vector in another number of parts. Requires sizes made by parts().
  [[nodiscard]] Sizes cut(int parts) const;

 private:
  enum class Kind : std::uint8_t { equal, all, some, parts, pairs };

  explicit Sizes(Kind kind) : kind_(kind) {}
  [[nodiscard]] Bytes of_pairs(BlockRange blocks) const;

  Kind kind_;
  Bytes each_ = 0;      ///< bytes of a block; parts: of an element
  Bytes elements_ = 0;  ///< parts: elements of the vector
  int parts_ = 1;       ///< parts: their number; pairs: the rank's position
  /// all: the offset of each block; pairs: bytes sent, then received, by position.
  std::shared_ptr<const std::vector<Bytes>> prefix_;
  std::vector<Known> known_;
};

}  // namespace tutti
