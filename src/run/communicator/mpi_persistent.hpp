/// A gather or scatter that is set up once and run many times, in part by the background thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "run/arrival/mpi_arrival.hpp"
#include "run/background.hpp"
#include "run/communicator/mpi_communicator.hpp"

namespace tutti {

/// On a private communicator of its own, so that it may be under way while others run. From start()
/// on the caller's receive buffer is Tutti's; from finish() on, where the rank has arrived, the
/// send buffer too. Until then the background thread runs what needs neither this rank's data nor
/// its call; finish() runs the rest in the caller's thread.
class PersistentCall final : public BackgroundTask {
 public:
  struct Setup {
    GatherScatterCall call;  ///< valid, with known types
    Specification specification;
    Bytes half_performance_length = 0;
    double rate = 1;                   ///< bytes that pass in a second
    std::shared_ptr<Arrival> arrival;  ///< null: nothing is known of arrivals
    bool agrees_on_order = false;      ///< all ranks need the order, not only the root
    bool at_root = false;
    const RankOrders* rank_orders = nullptr;  ///< see CallContext
  };

  /// Takes over `comm`. Collective. Returns an MPI error code.
  static int open(Setup setup, std::unique_ptr<PrivateComm> comm,
                  std::unique_ptr<PersistentCall>& made);
  ~PersistentCall() override;
  PersistentCall(const PersistentCall&) = delete;
  PersistentCall& operator=(const PersistentCall&) = delete;

  /// From now on the specification is another one. What it must know of sizes opening has brought,
  /// or its runner is the caller, who may wait for others in finish(). Alike on all ranks, and not
  /// while a call is under way.
  void change(const Specification& specification, bool agrees_on_order);
  /// `number` is the call's in the exchange of arrivals, if there is one.
  void start(CallNumber number);
  /// To be called when the rank has arrived, in that exchange too, and before it leaves. Returns an
  /// MPI error code, that of the background's part included.
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
    return setup_.arrival != nullptr && setup_.arrival->has_thread();
  }
  [[nodiscard]] bool runs_in_background() const {
    return has_thread() && setup_.specification.runner == Runner::background;
  }

  Setup setup_;
  std::unique_ptr<PrivateComm> comm_;
  std::optional<std::vector<Bytes>> sizes_;  ///< of all ranks, where each order needs them anew
  Scratch scratch_;
  Iov iov_;

  std::mutex mutex_;  ///< of what follows, which both threads use
  bool under_way_ = false;
  bool begun_ = false;  ///< the executor has the plan
  CallNumber number_ = 0;
  int error_ = MPI_SUCCESS;
  std::shared_ptr<const ArrivalEpoch> version_;
  const Plan* plan_ = nullptr;
  std::optional<MpiBuffers> buffers_;
};

}  // namespace tutti
