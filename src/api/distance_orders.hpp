/// Orders by distance on one communicator.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "algorithms/algorithms.hpp"
#include "core/fabric.hpp"
#include "cost/machine.hpp"
#include "run/mpi/functions.hpp"
#include "topology/rank_orders.hpp"

namespace tutti {

/// Rank 0 alone holds the distances and finds the orders; the others are told them. What is known
/// when this is made stays in force, so that all ranks go by the same orders.
class DistanceOrders {
 public:
  /// Collective. Where the distances that rank 0 knows are not those of these ranks, it says so on
  /// standard error, once. Returns an MPI error code.
  static int open(MPI_Comm comm, const Machine& machine, std::unique_ptr<DistanceOrders>& made);

  /// Alike on all ranks.
  [[nodiscard]] bool are_known() const { return known_; }

  /// Null where no distances are known. Collective at the first call with a specification and
  /// root. Sets `error` to an MPI error code.
  const RankOrders* rank_orders(const Specification& specification, Rank root, int& error);

  /// The orders of nodes, as of the first rank of each, which all ranks are told; null where no
  /// distances are known. Collective at the first call. Sets `error` to an MPI error code.
  DistanceOrders* between(const Nodes& nodes, const Machine& machine, int& error);

  /// Sets `found` to the algorithm that gains most in an order by distance, if one gains enough
  /// (gaining_by_distance). Collective. Returns an MPI error code.
  int find_gain(Collective collective, Bytes block, Rank root, std::optional<Specification>& found);

  /// Lets each rank find orders by itself, from the distances that it knows. Collective. Returns an
  /// MPI error code.
  int let_all_find(const Machine& machine);
  /// The order that this rank finds for blocks of so many bytes; empty where it knows no distances.
  /// After let_all_find, or at rank 0.
  [[nodiscard]] std::vector<Rank> found_alone(const Specification& specification, Rank root,
                                              Bytes block);

  /// Sets `ranks` to the rank at each place of an order for a new communicator (order_for_all), the
  /// natural one where no distances are known. Collective. Returns an MPI error code.
  int order_of_all(std::optional<Collective> collective, std::vector<Rank>& ranks) const;

 private:
  struct Entry {
    Specification specification;
    Rank root = 0;
    RankOrders rank_orders;
  };
  using Entries = std::deque<Entry>;  ///< which stay where they are

  explicit DistanceOrders(MPI_Comm comm) : comm_(comm) {}
  int find_fabric(const Machine& machine);
  int broadcast(std::vector<Rank>& ranks) const;
  static const RankOrders* look_up(const Entries& entries, const Specification& specification,
                                   Rank root);
  const RankOrders& rank_orders_here(const Specification& specification, Rank root);

  MPI_Comm comm_;
  Rank rank_ = 0;
  int p_ = 1;
  bool known_ = false;
  std::vector<int> rows_;         ///< at rank 0: of the distances, by rank
  std::optional<Fabric> fabric_;  ///< at rank 0, or on all
  Entries found_;                 ///< where the fabric is
  Entries broadcast_;
  std::unique_ptr<DistanceOrders> between_;  ///< nodes
};

}  // namespace tutti
