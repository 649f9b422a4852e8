/// Selects the algorithm and order of a root's one-sided operations.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "api/distance_orders.hpp"
#include "run/rma/mpi_rma.hpp"
#include "select/selection.hpp"

namespace tutti {

/// Each root decides alone, because its notifications name the algorithm. For any thread.
class RmaChooser {
 public:
  /// Collective over the system's ranks. Returns an MPI error code.
  static int open(const std::shared_ptr<RmaSystem>& system, std::shared_ptr<RmaChooser>& made);

  /// The algorithm for a vector, or one rank's block, of `bytes`: the requested one, or the fastest
  /// by the model for threads that poll as often as they do now. O(1), except the first call of a
  /// size (by powers of 2) and of a wait (by powers of 4).
  [[nodiscard]] Choice choose(Collective collective, Bytes bytes);
  /// The rank at each position, if that takes more than the specification: distances, or how late
  /// ranks have polled for notifications of this root. Empty if all ranks can compute it.
  [[nodiscard]] std::vector<Rank> order_for(const Specification& specification, Bytes bytes);

 private:
  explicit RmaChooser(std::shared_ptr<RmaSystem> system) : system_(std::move(system)) {}

  std::shared_ptr<RmaSystem> system_;
  std::mutex mutex_;  ///< for the members below
  std::unique_ptr<DistanceOrders> distances_;
  /// By bits of bytes, and half the bits of microseconds of waiting.
  std::map<std::tuple<Collective, int, int>, Choice> choices_;
};

}  // namespace tutti
