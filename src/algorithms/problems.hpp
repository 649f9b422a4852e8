/// The problems of all ranks in one call, from global data. Simulator, verifier and tests have
/// these data; a rank does not.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "protocols/ordered_tree.hpp"

namespace tutti {

/// One call of a collective, with the data of all ranks.
struct Call {
  Collective collective = Collective::gatherv;
  Rank root = 0;
  /// By rank, the bytes of its block; the length is p. If blocks are parts, the bytes of the
  /// vector; in an alltoall, of a block for one rank; both equal for all ranks.
  std::vector<Bytes> sizes;
  Bytes half_performance_length = 0;  ///< n_1/2 = alpha / beta, for trees built from sizes
  /// By rank, the expected arrival, in any unit from any zero; empty: all at once. All ranks must
  /// use the same bits.
  std::vector<double> arrivals = {};
  double rate = 1;  ///< bytes per unit of `arrivals`, for trees built from arrivals
  Bytes unit = 1;   ///< bytes of a vector's element; parts hold whole elements
  /// alltoallv: the bytes from rank s to rank d, at s * p + d; empty: sizes[(s + d) % p].
  std::vector<Bytes> pairs = {};
  /// The bytes that a rank may stage; 0: no bound (see algorithms/staging.hpp).
  Bytes memory = 0;
  /// The rank at each position for the order by distance, the root first; empty: rotated.
  std::vector<Rank> rank_order = {};
  /// Which ranks share nodes, for trees of leaders; null: none.
  std::shared_ptr<const Nodes> nodes = nullptr;

  [[nodiscard]] int p() const { return static_cast<int>(sizes.size()); }
  /// The bytes that rank `from` sends to rank `to`, if blocks are pairs.
  [[nodiscard]] Bytes pair(Rank from, Rank to) const;
  /// The sizes of all blocks as the contract numbers them; a vector has `parts` parts.
  [[nodiscard]] std::vector<Bytes> block_sizes(int parts) const;
};

/// Gives each rank exactly the knowledge that its protocol would acquire (the central twin of the
/// protocols), so its schedule is the one that a planner makes (run/plan/planner.hpp). Construction
/// O(p log p), each problem O(log^2 p + its tree degree), of an alltoallv O(p).
class Problems {
 public:
  Problems(const Specification& specification, const Call& call);

  /// The problem of `rank`. A leaf of a linear shape may have another order than the root, whose
  /// data it need not know.
  [[nodiscard]] Problem at(Rank rank) const;
  /// The schedule of `rank`.
  [[nodiscard]] Schedule schedule(Rank rank) const;
  /// The schedules of all ranks.
  [[nodiscard]] std::vector<Schedule> schedules() const;
  /// The order of the block positions.
  [[nodiscard]] const Order& order() const { return order_; }
  /// The tree from the sizes, of positions, or null if the algorithm builds none.
  [[nodiscard]] const OrderedTree* tree() const { return tree_ ? &*tree_ : nullptr; }

 private:
  void grow();
  [[nodiscard]] TreeNeighbours neighbours(Rank rank) const;
  [[nodiscard]] Sizes known_sizes(Rank rank, const Order& order) const;
  [[nodiscard]] Sizes pair_sizes(Rank rank) const;

  Specification specification_;
  Call call_;
  bool equal_;
  Order order_;
  Order order_of_others_;  ///< at ranks other than the root
  Sizes sizes_;
  std::optional<OrderedTree> tree_;
  std::vector<TreeNeighbours> informed_;  ///< by rank, of a bcast by arrivals
};

/// The rules by which the tree of a gather or scatter grows. If it is fixed (is_fixed_tree), it is
/// k-nomial, its ranks are the positions of an order, and only `memory` matters.
[[nodiscard]] Growth growth_of(const Specification& specification, int p, Rank root,
                               Bytes half_performance_length, ReadyTimes ready, Bytes memory);
[[nodiscard]] Growth growth_of(const Specification& specification, const Call& call);

/// The ready times of ranks for growth_of; null if the specification does not use arrivals or none
/// are known. `rate` is that of Call. Rounds to Bytes, so equal bits give equal trees.
[[nodiscard]] ReadyTimes ready_times(const Specification& specification,
                                     const std::vector<double>& arrivals, double rate);

/// The data by which orders are sorted, each by rank.
struct Expected {
  const std::vector<Bytes>* sizes = nullptr;      ///< for by_size, which requires them
  const std::vector<double>* arrivals = nullptr;  ///< for arrival, late_leaf; null: all at once
  const std::vector<Rank>* rank_order = nullptr;  ///< for distance; null or empty: rotated
};

/// The order of a specification, from data that every rank knows. Of a collective without a root,
/// the rank that is expected first takes the root's place. O(p log p) if it sorts.
[[nodiscard]] Order order_of(const Specification& specification, int p, Rank root,
                             const Expected& expected);

}  // namespace tutti
