/// The input of an algorithm: one rank's view of one call, all that a schedule may depend on. Among
/// it the block sizes that the rank knows.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "core/nodes.hpp"
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

/// Which of two adjacent subcubes sends to the other when an ordered tree is built.
enum class JoinRule : std::uint8_t {
  volume,       ///< the one with less data
  gather_time,  ///< the one that has gathered less (Träff 2017, Lemma 1)
  position,     ///< the lower one, at any sizes: the k-nomial tree with k = ports + 1
};

/// What ranks notify one another by in one-sided collectives.
enum class Notifications : std::uint8_t {
  messages,  ///< between threads, with data if they fit
  windows,   ///< request flags, descriptions and done counters in windows (Paznikov 2024, figure 3)
};

/// The most bytes that a notification carries by default.
inline constexpr Bytes max_carried = 32768;
/// No limit: any number of bytes, in several notifications if needed.
inline constexpr Bytes all_carried = Bytes{1} << 62;

/// The parameters of an algorithm; every field has a default.
struct Parameters {
  int k = 2;                         ///< radix of k-nomial trees, at least 2
  Bytes segment = 1024;              ///< first segment of linear_sync, in bytes
  JoinRule rule = JoinRule::volume;  ///< ordered tree: which subcube sends
  Bytes threshold = -1;              ///< ordered tree: heavier subtrees send to the root; -1: off
  bool promote = true;               ///< ordered tree: promote subtrees while the root idles
  int ports = 1;                     ///< ordered tree: messages that a rank receives at once
  bool arrivals = false;             ///< ordered tree: a rank is ready at its expected arrival
  int flight = 2;                    ///< linear_pull: blocks in flight at once; 0: no limit
  int late = -1;                     ///< relay: ranks that others deliver to; -1: half of them
  int parts = 0;                     ///< parts of a pipelined vector; 0: by its size
  Bytes carry = max_carried;         ///< one-sided: the most bytes that notifications carry
  bool nodes = false;                ///< one-sided: a tree of the leaders of nodes
  Notifications protocol = Notifications::messages;  ///< one-sided
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// A subtree of an ordered tree, as its parent knows it.
struct Subtree {
  Rank root = no_rank;
  BlockRange blocks = {};              ///< ranks of the subcube, natural order
  std::vector<BlockRange> holes = {};  ///< the ranges of it that do not pass through `root`
  Bytes bytes = 0;                     ///< bytes that pass through `root`, its own block included
  Bytes ready = 0;                     ///< modelled time at which `root` holds all these bytes
  friend bool operator==(const Subtree&, const Subtree&) = default;
};

/// A rank's neighbours in an ordered tree (knowledge `tree_neighbours`).
struct TreeNeighbours {
  Rank parent = no_rank;          ///< no_rank at the root of the tree
  Subtree self;                   ///< the subtree that this rank is the root of
  std::vector<Subtree> children;  ///< in the sequence of the joins
  friend bool operator==(const TreeNeighbours&, const TreeNeighbours&) = default;
};

/// The argument of every algorithm.
struct Problem {
  Collective collective = Collective::gather;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  Order order = Order::identity(1);
  Sizes sizes = Sizes::equal(0);
  int parts = 1;  ///< number of parts of the vector, if blocks are parts
  Parameters parameters = {};
  /// This rank's neighbours in an ordered tree, or in a k-nomial tree with subtrees that send
  /// directly to the root. Its root is no_rank if the algorithm uses its shape alone.
  TreeNeighbours tree = {};
  const Nodes* nodes = nullptr;  ///< for trees of leaders; null: each rank is a node

  [[nodiscard]] Position position() const { return order.position_of(rank); }
  [[nodiscard]] Rank rank_at(Position position) const { return order.rank_at(position); }
  [[nodiscard]] bool at_root() const { return rank == root; }
  /// The block that the rank at `from` sends to the rank at `to`, if blocks are pairs.
  [[nodiscard]] BlockRange pair(Position from, Position to) const {
    const BlockIndex block = BlockIndex{from} * p + to;
    return {block, block + 1};
  }
  /// The same problem with the vector cut into `count` parts.
  [[nodiscard]] Problem cut(int count) const {
    Problem problem = *this;
    problem.parts = count;
    problem.sizes = sizes.cut(count);
    return problem;
  }
  /// The same problem with another radix k. With 2 the tree is binomial; with at least p all other
  /// ranks are children of the root.
  [[nodiscard]] Problem with_k(int k) const {
    Problem problem = *this;
    problem.parameters.k = k;
    return problem;
  }
  /// The bytes of the whole vector.
  [[nodiscard]] Bytes vector_bytes() const { return sizes.of({0, parts}); }
};

}  // namespace tutti
