/// Distances that this process knows, and rank orders by distance on one communicator.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/algorithms.hpp"
#include "core/distances.hpp"
#include "cost/machine.hpp"
#include "run/mpi/exchange.hpp"
#include "topology/distance_file.hpp"
#include "topology/rank_orders.hpp"

namespace tutti {

/// The distances that this process knows, from a file or a measurement. Null if none are known, or
/// those of TUTTI_DISTANCES are invalid.
[[nodiscard]] std::shared_ptr<const DistanceFile> known_distances();

/// Replaces all known distances by those of this text, as to_text wrote it. It is parsed at first
/// use.
void set_distances(std::string text);

/// Why the file of TUTTI_DISTANCES cannot be used; empty if it can.
[[nodiscard]] std::string distances_error();

/// Rank 0 alone holds the distances and computes the orders; the others receive them. The distances
/// known when this is made stay in force, so that all ranks use the same orders.
class DistanceOrders {
 public:
  /// `distances` at rank 0; null: unknown. On other ranks they count only for let_all_find(). If
  /// they do not match these ranks, rank 0 says so on standard error, once. Collective. Returns an
  /// MPI error code.
  static int open(MPI_Comm comm, const Machine& machine,
                  std::shared_ptr<const DistanceFile> distances,
                  std::unique_ptr<DistanceOrders>& made);

  /// Does rank 0 know the distances of these ranks? Equal on all ranks.
  [[nodiscard]] bool are_known() const { return known_; }

  /// Sets `found`; null if no distances are known. Collective at the first call with a
  /// specification, and with each root unless the order turns with it. Returns an MPI error code.
  int rank_orders(const Specification& specification, Rank root, const RankOrders*& found);

  /// Sets `between` to the orders of nodes by the distances between their first ranks, for all
  /// ranks; null if no distances are known. Collective at the first call. Returns an MPI error
  /// code.
  int between(const Nodes& nodes, DistanceOrders*& between);

  /// Sets `found` to the candidates with a gain from their order by distance, if it is large enough
  /// (gaining_by_distance), the fastest first. Then all ranks have their orders. Collective.
  /// Returns an MPI error code.
  int find_gains(std::span<const Specification> candidates, Bytes block,
                 std::vector<Specification>& found);

  /// Lets each rank compute orders alone from the distances that it knows. Collective. Returns an
  /// MPI error code.
  int let_all_find();
  /// This rank's own order for blocks of `block` bytes; empty if it knows no distances. After
  /// let_all_find, or at rank 0.
  [[nodiscard]] std::vector<Rank> found_alone(const Specification& specification, Rank root,
                                              Bytes block);

  /// Sets `ranks` to the rank at each position of an order for a new communicator (order_for_all);
  /// the natural one if no distances are known. Collective. Returns an MPI error code.
  int order_of_all(std::optional<Collective> collective, std::vector<Rank>& ranks) const;

 private:
  struct Entry {
    Specification specification;
    Rank root = 0;  ///< 0 if the order turns with it
    RankOrders rank_orders = {};
    bool is_found = false;   ///< computed here from the fabric
    bool is_common = false;  ///< rank 0's, on all ranks
  };

  DistanceOrders(MPI_Comm comm, int p, const Machine& machine,
                 std::shared_ptr<const DistanceFile> distances)
      : comm_(comm),
        rank_(rank_in(comm)),
        p_(p),
        machine_(machine),
        distances_(std::move(distances)) {}
  int agree();
  void find_fabric();
  Entry& entry(const Specification& specification, Rank root);
  const RankOrders& rank_orders_here(const Specification& specification, Rank root);

  MPI_Comm comm_;
  Rank rank_;
  int p_;
  Machine machine_;
  std::shared_ptr<const DistanceFile> distances_;
  bool known_ = false;                       ///< equal on all ranks
  std::vector<int> rows_;                    ///< at rank 0: row of the distances by rank
  std::optional<Fabric> fabric_;             ///< at rank 0, and where ranks have found orders alone
  std::deque<Entry> entries_;                ///< with stable addresses
  std::unique_ptr<DistanceOrders> between_;  ///< orders of nodes
};

}  // namespace tutti
