/// One rank's view of one call of a collective: all that a schedule may depend on.
#pragma once

#include <vector>

#include "core/nodes.hpp"
#include "core/order.hpp"
#include "core/sizes.hpp"
#include "core/types.hpp"

namespace tutti {

/// Which of two adjacent subcubes sends when an ordered tree is grown from the sizes.
enum class JoinRule : std::uint8_t {
  volume,       ///< the one with less data in all
  gather_time,  ///< the one that has gathered less (Träff 2017, Lemma 1)
  position,     ///< the lower one, whatever there is: the k-nomial tree, k being ports + 1
};

/// What fits into a notification, in bytes.
inline constexpr Bytes max_carried = 32768;
/// Whatever there is, in as many notifications as it takes.
inline constexpr Bytes all_carried = Bytes{1} << 62;

/// What an algorithm can be told beyond its name; every field has a default.
struct Parameters {
  int k = 2;                         ///< radix of k-nomial trees, at least 2
  Bytes segment = 1024;              ///< first segment of linear_sync, in bytes
  JoinRule rule = JoinRule::volume;  ///< of the ordered tree
  Bytes threshold = -1;              ///< ordered tree: heavier subtrees send to the root; -1 off
  bool promote = true;               ///< ordered tree: promote subtrees while the root idles
  int ports = 1;                     ///< ordered tree: messages a rank can take at once
  bool arrivals = false;             ///< ordered tree: ranks are ready when they are expected
  int flight = 2;                    ///< linear_pull: blocks on the way at once; 0 no limit
  int late = -1;                     ///< relay: ranks that others deliver to; -1 half of them
  int parts = 0;                     ///< of a pipelined vector; 0 by its size
  Bytes carry = max_carried;         ///< one-sided: so much travels in notifications
  bool nodes = false;                ///< one-sided: the tree is one of leaders of nodes
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// A subtree of a grown tree as its parent knows it.
struct Subtree {
  Rank root = no_rank;
  BlockRange blocks;              ///< ranks of the subcube, natural order
  std::vector<BlockRange> holes;  ///< parts of it that do not pass through `root`
  Bytes bytes = 0;                ///< what passes through `root`, its own block included
  Bytes ready = 0;                ///< modelled time at which `root` holds all that
  friend bool operator==(const Subtree&, const Subtree&) = default;
};

/// A rank's place in a grown tree (knowledge `tree_neighbours`).
struct TreeNeighbours {
  Rank parent = no_rank;          ///< no_rank at the root of the tree
  Subtree self;                   ///< the subtree that this rank is the root of
  std::vector<Subtree> children;  ///< in the sequence in which they were joined
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
  int parts = 1;  ///< of the vector, where that is what the blocks are
  Parameters parameters = {};
  /// A grown tree, or a k-nomial one some of whose subtrees send straight to the root; of no
  /// rank where the algorithm goes by its shape alone.
  TreeNeighbours tree = {};
  const Nodes* nodes = nullptr;  ///< for trees of leaders; null: each rank is a node

  [[nodiscard]] Position position() const { return order.position_of(rank); }
  [[nodiscard]] Rank rank_at(Position position) const { return order.rank_at(position); }
  [[nodiscard]] bool at_root() const { return rank == root; }
  /// The block that the rank at `from` has for the one at `to`, where blocks are pairs.
  [[nodiscard]] BlockRange pair(Position from, Position to) const {
    return {from * p + to, from * p + to + 1};
  }
  /// The same problem with the vector cut into `count` parts.
  [[nodiscard]] Problem cut(int count) const {
    Problem problem = *this;
    problem.parts = count;
    problem.sizes = sizes.cut(count);
    return problem;
  }
  /// The same problem on a tree of another k: 2 for the binomial one, at least p for one whose root
  /// has all others as its children.
  [[nodiscard]] Problem with_k(int k) const {
    Problem problem = *this;
    problem.parameters.k = k;
    return problem;
  }
  /// All bytes of the vector, however it is cut.
  [[nodiscard]] Bytes vector_bytes() const { return sizes.of({0, parts}); }
};

}  // namespace tutti
