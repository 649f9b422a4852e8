/// The problems that all ranks face in one call, from global data: what a simulator, a verifier
/// or a test knows and no rank does.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "protocols/ordered_tree.hpp"

namespace tutti {

/// One call of a collective, seen from outside.
struct Call {
  Collective collective = Collective::gatherv;
  Rank root = 0;
  /// Of each rank's block; its length is p. Of the vector where blocks are its parts, of a block
  /// for one rank in an alltoall: all equal.
  std::vector<Bytes> sizes;
  Bytes half_performance_length = 0;  ///< n_1/2 = alpha / beta, for trees grown from sizes
  /// When each rank is expected, in any unit from any zero; empty: all at once. All ranks build
  /// from the same bits.
  std::vector<double> arrivals = {};
  double rate = 1;  ///< the bytes that pass in one unit of `arrivals`, for trees grown by them
  Bytes unit = 1;   ///< of an element of a vector, which is not cut
  /// alltoallv: what rank s has for rank d, at s * p + d; empty: as much as rank (s + d) % p's
  /// size.
  std::vector<Bytes> pairs = {};
  /// Bytes that a rank may stage; 0: no bound (see algorithms/staging.hpp).
  Bytes memory = 0;
  /// The rank at each position for the order by distance, the root first; empty: rotated.
  std::vector<Rank> rank_order = {};
  /// Which ranks share nodes, for trees of leaders; null: none.
  std::shared_ptr<const Nodes> nodes = nullptr;

  [[nodiscard]] int p() const { return static_cast<int>(sizes.size()); }
  /// The bytes that rank `from` has for rank `to`, where blocks are pairs.
  [[nodiscard]] Bytes pair(Rank from, Rank to) const;
  /// The sizes of all blocks as the contract numbers them; of a vector in `parts` parts.
  [[nodiscard]] std::vector<Bytes> block_sizes(int parts) const;
};

/// Gives each rank the knowledge, no more, that its protocol would have acquired (the central
/// twin of the protocols). Construction O(p log p), each problem O(its tree degree).
class Problems {
 public:
  Problems(const Specification& specification, const Call& call);

  /// The problem of `rank`. A leaf of a linear shape sees the order that the root uses.
  [[nodiscard]] Problem at(Rank rank) const;
  /// The schedule of `rank`.
  [[nodiscard]] Schedule schedule(Rank rank) const;
  /// The schedules of all ranks.
  [[nodiscard]] std::vector<Schedule> schedules() const;
  /// The order that block positions refer to.
  [[nodiscard]] const Order& order() const { return order_; }
  /// The grown tree, where the algorithm grows one.
  [[nodiscard]] const OrderedTree* tree() const { return tree_ ? &*tree_ : nullptr; }

 private:
  [[nodiscard]] Sizes known_sizes(Rank rank) const;
  [[nodiscard]] Sizes pair_sizes(Rank rank) const;

  Specification specification_;
  Call call_;
  bool equal_;
  Order order_;
  Sizes sizes_;
  std::optional<OrderedTree> tree_;
  std::vector<TreeNeighbours> neighbours_;
};

/// The places of all positions of an order in a k-nomial gather or scatter of blocks of these
/// sizes, by rank, whose heavy subtrees send straight to the root; empty where none is that heavy.
/// O(p).
[[nodiscard]] std::vector<TreeNeighbours> fixed_positions(const Specification& specification,
                                                          const Order& order,
                                                          const std::vector<Bytes>& sizes,
                                                          Bytes memory);

/// The tree's rules for a call: root, parameters, half-performance length.
[[nodiscard]] Growth growth_of(const Specification& specification, int p, Rank root,
                               Bytes half_performance_length, ReadyTimes ready = nullptr,
                               Bytes memory = 0);

/// When ranks are ready, for growth_of: null where the specification does not ask for arrivals or
/// none are known. `rate` is that of Call. Rounds to bytes, so that equal bits give equal trees.
[[nodiscard]] ReadyTimes ready_times(const Specification& specification,
                                     const std::vector<double>& arrivals, double rate);

/// The positions below the root that take ranks by expected arrival, earliest first. With
/// late_leaf a gather along a tree puts late ranks where their blocks have the shortest way; in
/// all other shapes late ranks are leaves by `arrival` too, and the two are one.
[[nodiscard]] std::vector<Position> receiving_sequence(const Specification& specification, int p);

/// What an order may be sorted by, each by rank.
struct Expected {
  const std::vector<Bytes>* sizes = nullptr;      ///< for by_size, which needs them
  const std::vector<double>* arrivals = nullptr;  ///< for arrival, late_leaf; null: all at once
  const std::vector<Rank>* rank_order = nullptr;  ///< for distance; null or empty: rotated
};

/// The order of a specification, from what every rank knows. O(p log p) where it sorts.
[[nodiscard]] Order order_of(const Specification& specification, int p, Rank root,
                             const Expected& expected);

}  // namespace tutti
