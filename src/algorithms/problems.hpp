/// The problems of all ranks in one call, from global data. Simulator, verifier and tests have
/// these data; a rank does not.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "algorithms/problem_maker.hpp"

namespace tutti {

/// One call of a collective, with the data of all ranks.
struct Call {
  Collective collective = Collective::gatherv;
  Rank root = 0;
  /// By rank, the bytes of its block; the length is p. If blocks are parts, the bytes of the
  /// vector; in an alltoall, of a block for one rank; both equal for all ranks.
  std::vector<Bytes> sizes;
  Bytes half_performance_length = 0;  ///< n_1/2 = alpha / beta, for trees built from sizes
  /// By rank, the expected arrival, in any unit from any zero; empty: unknown. All ranks must use
  /// the same bits.
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
/// protocols). Construction O(p log p), each problem as of ProblemMaker.
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
  [[nodiscard]] const Order& order() const { return all_.order(); }
  /// As those of ProblemMaker, from all sizes.
  [[nodiscard]] const Growth& growth() const { return all_.growth(); }
  [[nodiscard]] const OrderedTree* tree() const { return all_.tree(); }

 private:
  [[nodiscard]] CallSizes own_sizes(Rank rank) const;
  [[nodiscard]] Learned learned_by(Rank rank) const;

  Call call_;
  ProblemMaker all_;                    ///< from all data
  std::optional<ProblemMaker> others_;  ///< at ranks other than the root, if they know less
};

}  // namespace tutti
