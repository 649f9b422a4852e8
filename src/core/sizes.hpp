/// The block sizes that one rank knows.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "core/order.hpp"
#include "core/types.hpp"

namespace tutti {

/// The bytes of the blocks of a call that a rank knows from its arguments, or after an exchange.
struct CallSizes {
  Bytes each = 0;              ///< of each block if all are equal, or of the vector
  Bytes own = 0;               ///< gathers and scatters: of this rank's block
  std::vector<Bytes> by_rank;  ///< if they vary, except for pairs; gatherv, scatterv: at the root
  std::vector<Bytes> sent;     ///< alltoallv: of the blocks to each rank
  std::vector<Bytes> received;
  friend bool operator==(const CallSizes&, const CallSizes&) = default;

  /// Of the block of `rank`, or of the vector.
  [[nodiscard]] Bytes of(Rank rank) const { return by_rank.empty() ? each : by_rank[index(rank)]; }
  /// Of all blocks, which are `blocks` if all are equal.
  [[nodiscard]] Bytes total(int blocks) const {
    Bytes bytes = each * blocks;
    for (const auto* some : {&by_rank, &sent, &received}) {
      bytes = std::accumulate(some->begin(), some->end(), bytes);
    }
    return bytes;
  }
  /// Their memory in bytes, except for the object's.
  [[nodiscard]] std::size_t memory() const {
    return sizeof(Bytes) * (by_rank.size() + sent.size() + received.size());
  }
};

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
