/// One-sided collectives: those of a communicator, at the end of MPI, and of windows.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "api/distance_orders.hpp"
#include "run/rma/mpi_rma.hpp"
#include "select/selection.hpp"

namespace tutti {

class Communicator;

/// A communicator with one-sided collectives. Each root selects alone, because its notifications
/// name the algorithm. For any thread.
class RmaComm {
 public:
  /// Collective. Returns an MPI error code.
  static int open(const Communicator& communicator, std::shared_ptr<RmaComm>& made);

  /// Null once one-sided collectives have ended on it, when the program may free it.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  void forget_comm() { comm_ = mpi().comm_null; }
  /// See AgreedSettings.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] RmaSystem& system() const { return *system_; }
  /// The algorithm for a vector, or one rank's block, of `bytes`: the requested one, or the fastest
  /// by the model for threads that poll as often as they do now. O(1), except the first call of a
  /// size (by powers of 2) and of a wait (by powers of 4).
  [[nodiscard]] Choice choose(Collective collective, Bytes bytes);
  /// The rank at each position, if that takes more than the specification: distances, or how late
  /// ranks have polled for notifications of this root. Empty if all ranks can compute it.
  [[nodiscard]] std::vector<Rank> order_for(const Specification& specification, Bytes bytes);

 private:
  RmaComm(MPI_Comm comm, std::uint64_t id) : comm_(comm), id_(id) {}

  std::atomic<MPI_Comm> comm_;  ///< the program's
  std::uint64_t id_;
  std::unique_ptr<RmaSystem> system_;
  std::mutex mutex_;  ///< for the members below
  std::unique_ptr<DistanceOrders> distances_;
  /// By bits of bytes, and half the bits of microseconds of waiting.
  std::map<std::tuple<Collective, int, int>, Choice> choices_;
};

/// The owner of a window of TUTTI_Rma_window_register, and the window's number there; null if there
/// is none.
[[nodiscard]] std::shared_ptr<RmaComm> owner_of_handle(MPI_Win handle, int& number);

/// Ends Tutti's operations on the window when it is freed, by the deletion callback of an
/// attribute, if the program frees it past Tutti. `system` identifies the owner and may end
/// earlier. Local. Returns an MPI error code.
int watch(MPI_Win handle, RmaSystem& system);

/// States whether the MPI moves puts while their target computes; empty if no one-sided collectives
/// have been started.
[[nodiscard]] std::string progress_of_rma();

/// Completes and ends the one-sided collectives of all communicators. Collective, at the end of
/// MPI; drops errors.
void close_all_rma();

}  // namespace tutti
