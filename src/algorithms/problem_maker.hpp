/// The problem of a rank, from what it knows of a call. Ranks that run a call and verifiers that
/// have the data of all ranks make problems in this way only.
#pragma once

#include <optional>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "protocols/ordered_tree.hpp"

namespace tutti {

/// The data by which orders are sorted, each by rank. Null or empty: unknown.
struct Expected {
  const std::vector<Bytes>* sizes = nullptr;      ///< for by_size, if blocks of ranks vary
  const std::vector<double>* arrivals = nullptr;  ///< for arrival, late_leaf
  const std::vector<Rank>* rank_order = nullptr;  ///< for orders by distance
};

/// The order of a specification, from data that every rank knows. Of a collective without a root,
/// the rank that is expected first takes the root's place. Without the data it is rotated; natural
/// for by_size. O(p log p) if it sorts.
[[nodiscard]] Order order_of(const Specification& specification, int p, Rank root,
                             const Expected& expected);

/// The ready times of ranks, for trees by arrivals; null if the specification does not use arrivals
/// or none are known. `rate` is in bytes per unit of `arrivals`. Rounds to Bytes, so equal bits
/// give equal trees.
[[nodiscard]] ReadyTimes ready_times(const Specification& specification,
                                     const std::vector<double>& arrivals, double rate);

/// What a rank knows of a call beside the sizes.
struct KnownCall {
  Specification specification;
  int p = 1;
  Rank root = 0;
  Bytes unit = 1;                     ///< bytes of a vector's element; parts hold whole elements
  Order order = Order::identity(1);   ///< see order_of
  ReadyTimes ready = nullptr;         ///< see ready_times
  Bytes half_performance_length = 0;  ///< n_1/2 = alpha / beta, for trees built from sizes
  Bytes memory = 0;                   ///< bytes that a rank may stage; 0: no bound
  const Nodes* nodes = nullptr;       ///< for trees of leaders; null: none
};

/// What a rank learns by a protocol if it does not know all sizes of a gather or scatter.
struct Learned {
  std::vector<Bytes> subtrees = {};  ///< Knowledge::subtree_sizes, for fixed_position
  TreeNeighbours tree = {};          ///< Knowledge::tree_neighbours
};

/// The problems of ranks that know the same of a call, except for their own sizes.
class ProblemMaker {
 public:
  /// If the sizes of ranks vary and `sizes` has none by rank, they are unknown. O(1), O(p) from
  /// sizes by rank, O(p log p) for a tree by arrivals alone.
  ProblemMaker(const KnownCall& known, const CallSizes& sizes);

  /// The problem of `rank`. If it does not know the sizes of all, from its own sizes and what it
  /// has learned. O(log^2 p + its tree degree), for pairs O(p).
  [[nodiscard]] Problem at(Rank rank, const CallSizes& own = {}, const Learned& learned = {}) const;

  /// That of the call, or what runs instead because it would stage too much (see within).
  [[nodiscard]] const Specification& specification() const { return specification_; }
  [[nodiscard]] const Order& order() const { return common_.order; }
  /// The rules by which the tree of a gather or scatter grows. If it is fixed (is_fixed_tree), it
  /// is k-nomial, its ranks are the positions of the order, and only `memory` matters.
  [[nodiscard]] const Growth& growth() const { return growth_; }
  /// The tree from all sizes, of positions; null if the algorithm builds none, or no heavy subtrees
  /// are to be cut off, or not all sizes are known.
  [[nodiscard]] const OrderedTree* tree() const { return tree_ ? &*tree_ : nullptr; }

 private:
  [[nodiscard]] Sizes own_sizes(Rank rank, const CallSizes& own, const Learned& learned) const;
  [[nodiscard]] TreeNeighbours neighbours(Rank rank, const CallSizes& own,
                                          const Learned& learned) const;

  Specification specification_;
  Growth growth_;
  bool knows_sizes_;
  Problem common_;  ///< what all these problems share
  std::optional<OrderedTree> tree_;
  std::vector<TreeNeighbours> informed_;  ///< by rank: a tree by arrivals alone
};

}  // namespace tutti
