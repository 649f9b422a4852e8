/// Learning the distances between nodes in the program's own calls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "api/limited.hpp"
#include "run/distance/mpi_ping_pong.hpp"
#include "run/mpi/owned_comm.hpp"
#include "topology/link_survey.hpp"

namespace tutti {

/// Learns what orders by distance need, step by step, as the budget of exploration pays for it:
/// distances, unless the user has named some, then orders. Rank 0 notes the links between nodes for
/// other communicators of which it is rank 0 and, if the run keeps what it learns, for later runs:
/// all that it has measured, also if learning ends before it knows enough.
///
/// Pairs of nodes are measured as next_pairs() says. If their links are alike, no order is expected
/// to help, and learning ends. All ranks take the same steps in the same calls.
class DistanceLearning : NotCopied {
 public:
  /// Both must outlive this.
  DistanceLearning(Communicator& communicator, HierarchicalNodes& nodes)
      : communicator_(communicator), nodes_(nodes) {}
  ~DistanceLearning() { close(); }

  /// What advance() is expected to take, in nanoseconds; 0: there is nothing to learn for calls of
  /// this collective. Alike on all ranks, once nodes are guessed. Local.
  [[nodiscard]] double cost(Collective collective, double max_cost) const;
  /// Takes the next step, as far as `max_cost` nanoseconds hold it, or the least part of it. Sets
  /// `has_orders` once the orders for the collective are known. Collective. Returns an MPI error
  /// code.
  int advance(Collective collective, double max_cost, bool& has_orders);
  /// Are the orders for the collective known?
  [[nodiscard]] bool has_orders(Collective collective) const { return has_orders_[collective]; }
  /// Ends learning, and frees what it needs. Collective.
  void close();

 private:
  enum class Step : std::uint8_t { begin, measure, find_orders, over };

  /// How many of the next pairs `max_cost` nanoseconds hold, at least one.
  [[nodiscard]] std::size_t pairs_within(double max_cost) const;
  int begin();
  int conclude(MPI_Comm comm);
  int open_links();
  int measure_inside();
  int measure(double max_cost);
  int use(std::shared_ptr<const DistanceFile> distances);
  int find_orders(Collective collective);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  Step step_ = Step::begin;
  OwnedComm comm_;
  std::optional<PingPong> links_;
  Nodes measured_nodes_;              ///< as guessed when learning began; others may follow
  std::optional<LinkSurvey> survey_;  ///< at rank 0
  std::vector<RankPair> pairs_;       ///< to be measured next, before rank 0 decides again
  Limited<DistanceLearning, 8> limited_;
  bool has_measured_ = false;
  double pair_cost_ = 0;  ///< expected, in nanoseconds
  PerCollective<bool> has_orders_{};
};

}  // namespace tutti
