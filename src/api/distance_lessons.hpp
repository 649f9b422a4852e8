/// Learning the distances between nodes in the program's own calls.
#pragma once

#include <optional>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "run/distance/mpi_ping_pong.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// What orders by distance need, learned step by step as the budget of exploration pays for it:
/// distances, unless the user has named some, then orders. Rank 0 keeps the distances for the other
/// communicators of which it is rank 0, and in the user's cache if the run keeps what it learns.
///
/// Every pair of nodes is measured between their first ranks, those of rank 0's node first: if
/// these are alike, no order is expected to help, and learning ends. On each node the first two
/// ranks stand for all pairs. All ranks take the same steps in the same calls.
class DistanceLessons {
 public:
  /// Both must outlive this.
  DistanceLessons(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}

  /// What take() is expected to take, in nanoseconds; 0: there is nothing to learn for calls of
  /// this collective. Call it once nodes are guessed. Local.
  [[nodiscard]] double expected(Collective collective, double most) const;
  /// Takes the steps that `most` nanoseconds hold, at least one. Sets `has_orders` once the orders
  /// for the collective are known. Collective. Returns an MPI error code.
  int take(Collective collective, double most, bool& has_orders);
  /// Are the orders for the collective known?
  [[nodiscard]] bool has_orders(Collective collective) const { return has_orders_[collective]; }

 private:
  enum class Step : std::uint8_t { begin, measure, over };

  /// Those of rank 0's node, which are the first ones.
  [[nodiscard]] std::size_t pairs_of_first() const;
  /// How many of the next ones `most` nanoseconds hold, at least one.
  [[nodiscard]] std::size_t pairs_within(double most) const;
  int begin();
  int measure(double most);
  int finish();
  int find_orders(Collective collective);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  Step step_ = Step::begin;
  OwnedComm comm_;
  std::optional<PingPong> links_;
  std::vector<RankPair> pairs_;  ///< of nodes
  std::size_t measured_ = 0;     ///< of these
  double pair_ = 0;              ///< nanoseconds
  PerCollective<bool> has_orders_{};
};

}  // namespace tutti
