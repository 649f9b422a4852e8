/// A persistent gather or scatter, executed in part by the background thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "run/arrival/mpi_arrival.hpp"
#include "run/background.hpp"
#include "run/communicator/mpi_communicator.hpp"

namespace tutti {

/// Uses its own private communicator, so that other calls may run meanwhile. From start() on, Tutti
/// may use the caller's receive buffer; from finish() on, when the rank has arrived, also the send
/// buffer. Before that the background thread runs the steps that need neither this rank's data nor
/// its call. finish() runs the rest in the caller's thread.
class PersistentCall final : public BackgroundTask {
 public:
  struct Setup {
    MpiCall call;  ///< valid, with known types
    Specification specification;
    CallContext context;
    bool at_root = false;
  };

  /// Takes over `comm`. Collective. Returns an MPI error code.
  static int open(Setup setup, std::unique_ptr<PrivateComm> comm,
                  std::unique_ptr<PersistentCall>& made);
  ~PersistentCall() override;
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;

  /// Changes the specification. The size exchange for it was made by open(), or its runner is the
  /// caller, who may wait for others in finish(). Equal on all ranks, and not while a call is
  /// active.
  void change(const Specification& specification, bool agrees_on_order,
              const RankOrders* rank_orders);
  /// Starts a call. `number` is its number in the exchange of arrivals, if there is one.
  void start(CallNumber number);
  /// Completes the call. Call it after the rank's arrival was noted in the exchange, and before its
  /// exit is. Returns an MPI error code, also that of the background thread's part.
  int finish();

  Progress proceed() override;

 private:
  PersistentCall(Setup setup, std::unique_ptr<PrivateComm> comm)
      : setup_(std::move(setup)), comm_(std::move(comm)) {}
  int learn_sizes();
  [[nodiscard]] bool uses_epoch() const;
  bool find_order(bool arrived, int& error);
  int begin();
  [[nodiscard]] bool has_thread() const {
    return setup_.context.arrival != nullptr && setup_.context.arrival->has_thread();
  }
  [[nodiscard]] bool runs_in_background() const {
    return has_thread() && setup_.specification.runner == Runner::background;
  }

  Setup setup_;
  std::unique_ptr<PrivateComm> comm_;
  std::optional<std::vector<Bytes>> sizes_;  ///< of all ranks, if each new order needs them
  Scratch scratch_;
  Iov iov_;

  std::mutex mutex_;  ///< for the members below, which both threads use
  bool under_way_ = false;
  bool begun_ = false;  ///< the executor has the plan
  CallNumber number_ = 0;
  int error_ = MPI_SUCCESS;
  std::shared_ptr<const ArrivalEpoch> epoch_;
  const Plan* plan_ = nullptr;
  std::optional<CallBuffers> buffers_;
};

}  // namespace tutti
