/// The call behind a persistent request of the C API.
#pragma once

#include <tutti/tutti.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/arrived_call.hpp"
#include "api/tuned_selection.hpp"
#include "report/call_log.hpp"
#include "run/background.hpp"
#include "run/communicator/mpi_communicator.hpp"

namespace tutti {

/// One gather or scatter with its arguments. open() settles an algorithm that is forced by name, or
/// that rules select. A hierarchical call runs in finish(). If exploration decides and arrivals are
/// exchanged when the request is opened, each start selects as a call of its own does, and may
/// wait for other ranks' starts.
///
/// Schedules run on a private communicator of the request, so that other calls may run meanwhile.
/// From start() on, Tutti may use the receive buffer; from finish() on, when the rank has arrived,
/// also the send buffer. Before that the background thread runs the steps that need neither this
/// rank's data nor its call. finish() runs the rest in the caller's thread.
class PersistentRequest final : public BackgroundTask {
 public:
  /// `run_native` makes the call through the program's MPI, which reports invalid arguments. All
  /// ranks use it if the arguments of one rank are invalid or not `usable`. Collective. Returns an
  /// MPI error code.
  static int open(const MpiCall& call, bool usable, std::function<int()> run_native,
                  std::unique_ptr<PersistentRequest>& made);
  ~PersistentRequest() override;

  [[nodiscard]] MPI_Comm comm() const { return call_.comm; }
  [[nodiscard]] bool is_active() const { return active_; }
  /// Not to be called while active. Returns an MPI error code.
  int start();
  /// To be called while active; `site` is the program's call site, for the report. Returns an MPI
  /// error code, with which it has called the program's error handler.
  int finish(const void* site);

  Progress proceed() override;

 private:
  PersistentRequest(const MpiCall& call, std::function<int()> run_native)
      : call_(call), run_native_(std::move(run_native)) {}
  int settle(Communicator& communicator, bool usable);
  int agree_on_arguments(Communicator& communicator, bool usable, bool& all_valid);
  int open_schedule(Communicator& communicator, const Specification& specification);
  int set(const Specification& specification, Communicator& communicator);
  int select(Communicator& communicator);
  int begin();
  /// Runs the call, or sets `is_native`: the MPI's own is to run. Returns an MPI error code.
  int run(const ArrivedCall* arrived, bool& is_native);
  /// Keeps what is known of a call that has ended with this error code.
  void end(Communicator& communicator, int error, TunedSelection::NotedCall& noted,
           CallRecord& record);

  [[nodiscard]] bool has_thread() const { return arrival_ != nullptr && arrival_->has_thread(); }
  [[nodiscard]] bool runs_in_background() const {
    return has_thread() && specification_.runner == Runner::background;
  }
  [[nodiscard]] bool runs_schedule() const {
    return decision_.specification && !decision_.level.hierarchical;
  }
  [[nodiscard]] bool uses_epoch() const;
  bool find_order();
  void start_schedule();
  int begin_schedule();
  int finish_schedule(const ArrivedCall* arrived);

  MpiCall call_;
  std::function<int()> run_native_;
  std::shared_ptr<Arrival> arrival_;  ///< null: arrivals are not exchanged
  Decision settled_;                  ///< if it is tuned, each start selects; no text without Tutti
  Decision decision_;                 ///< what runs now, a hierarchical call in finish()
  TunedSelection::NotedCall noted_;   ///< the call under way
  CallNumber number_ = 0;
  std::uint64_t counted_ = 0;  ///< the call's number for the report
  bool active_ = false;

  std::unique_ptr<PrivateComm> schedule_comm_;  ///< null: no schedule ever runs
  Specification specification_;
  CallContext context_;
  std::vector<Bytes> sizes_;  ///< of all ranks, if each new order needs them
  Iov iov_;

  std::mutex mutex_;         ///< for the members below, which both threads use
  bool under_way_ = false;   ///< from start_schedule() to finish_schedule()
  bool is_planned_ = false;  ///< the executor has the plan
  int error_ = MPI_SUCCESS;
  std::shared_ptr<const ArrivalEpoch> epoch_;
  const Plan* plan_ = nullptr;
  std::optional<CallBuffers> buffers_;
};

/// Opens a request of the C API, which stays null after an error; that has reached the program's
/// handler. `run_native`: see PersistentRequest::open. Collective.
int open_request(const MpiCall& call, std::function<int()> run_native, TUTTI_Request* request);

}  // namespace tutti
