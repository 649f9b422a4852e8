/// Which algorithm a root takes for its one-sided operations, and in which order.
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

/// Each root alone decides, as its notifications say what was chosen. For any thread.
class RmaChooser {
 public:
  /// Collective over the system's ranks. Returns an MPI error code.
  static int open(const std::shared_ptr<RmaSystem>& system, std::shared_ptr<RmaChooser>& made);

  /// For a vector, or one rank's block, of so many bytes: what the user asks for, or the fastest by
  /// the model, for threads that look as often as they do now. O(1) but for the first of its size,
  /// by powers of two, and of such a wait, by powers of four.
  [[nodiscard]] Choice choose(Collective collective, Bytes bytes);
  /// The rank at each position where that takes more than the specification: distances, or how
  /// late ranks have looked for notifications of this root. Empty where all ranks know it.
  [[nodiscard]] std::vector<Rank> order_for(const Specification& specification, Bytes bytes);

 private:
  explicit RmaChooser(std::shared_ptr<RmaSystem> system) : system_(std::move(system)) {}

  std::shared_ptr<RmaSystem> system_;
  std::mutex mutex_;  ///< of what follows
  std::unique_ptr<DistanceOrders> distances_;
  /// By bits of bytes, and half the bits of microseconds of waiting.
  std::map<std::tuple<Collective, int, int>, Choice> choices_;
};

}  // namespace tutti
