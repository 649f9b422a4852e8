/// Learning the distances between nodes in the program's own calls.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/hierarchical_nodes.hpp"
#include "run/distance/mpi_ping_pong.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// Learns what orders by distance need, step by step, as the budget of exploration pays for it:
/// distances, unless the user has named some, then orders. Rank 0 keeps the distances for other
/// communicators of which it is rank 0, and in the user's cache if the run keeps what it learns.
///
/// Every pair of nodes is measured between their first ranks, those of rank 0's node first: if
/// these are alike, no order is expected to help, and learning ends. On each node the first two
/// ranks stand for all pairs. All ranks take the same steps in the same calls.
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

  /// The pairs of rank 0's node, which are measured first.
  [[nodiscard]] std::size_t pairs_of_first_node() const;
  /// The number of pairs of nodes.
  [[nodiscard]] std::size_t pairs() const;
  /// How many of the next pairs `max_cost` nanoseconds hold, at least one.
  [[nodiscard]] std::size_t pairs_within(double max_cost) const;
  [[nodiscard]] std::vector<RankPair> next_pairs(std::size_t count) const;
  int begin();
  int open_links();
  int measure(double max_cost);
  int finish();
  int use(std::shared_ptr<const DistanceFile> distances);
  int find_orders(Collective collective);

  Communicator& communicator_;
  HierarchicalNodes& nodes_;
  Step step_ = Step::begin;
  OwnedComm comm_;
  std::optional<PingPong> links_;
  Nodes measured_nodes_;      ///< as guessed when the first pair was measured; others may follow
  bool is_counted_ = false;   ///< towards the limit on communicators that learn
  std::size_t measured_ = 0;  ///< pairs of nodes
  double pair_cost_ = 0;      ///< expected, in nanoseconds
  PerCollective<bool> has_orders_{};
};

}  // namespace tutti
