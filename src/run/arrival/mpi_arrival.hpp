/// Expected arrivals of one communicator's ranks: estimates, their exchange, and their use in
/// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "protocols/arrival_agreement.hpp"
#include "run/arrival/message_queue.hpp"
#include "run/arrival/mpi_clock.hpp"
#include "run/background.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// This rank's prediction of one of its calls, for reports.
struct CallPrediction {
  /// Seconds: the expected arrival minus the actual one; NaN without an estimate.
  double ahead = std::numeric_limits<double>::quiet_NaN();
  /// Seconds from the last progress hint to the arrival; NaN without a hint.
  double progress_hint = std::numeric_limits<double>::quiet_NaN();
};

/// Sets `made` to a channel for messages of at most `longest` words, apart from the messages of
/// collectives: on its own duplicate of a communicator. Collective; only this waits for other
/// ranks. Returns an MPI error code.
int open_channel(MPI_Comm of, std::size_t longest, std::unique_ptr<ControlChannel>& made);

/// One rank's part in the agreement on arrivals (protocols/arrival_agreement.hpp). Rank 0 of the
/// communicator is the coordinator; its background thread answers while rank 0 computes. If some
/// rank cannot have such a thread, no rank asks for an epoch, only shapes in which the root alone
/// needs the order use arrivals, and rank 0 sends profiles from inside its calls. Thread-safe.
///
/// A rank sends an estimate for each of the first calls, after a change of profile, and while each
/// call needs an epoch; otherwise for every eighth call. All ranks send estimates for the same
/// calls.
class Arrival final : public BackgroundTask {
 public:
  /// Starts the process's background thread if MPI's thread level permits it. Collective. Returns
  /// an MPI error code.
  static int open(MPI_Comm comm, std::shared_ptr<Arrival>& made);
  ~Arrival() override;

  /// One step of closing the exchange; to be repeated until it is true, which requires that all
  /// ranks have begun to close. Does not wait, so that ranks can close several communicators in
  /// different sequences. A call without an epoch gets none any more. No rank may be in a call, but
  /// requests may be active. Does not throw.
  bool try_close();

  /// True if every rank has a background thread. Alike on all ranks.
  [[nodiscard]] bool has_thread() const { return has_thread_; }
  [[nodiscard]] const MpiClock& clock() const { return clock_; }

  /// The program will give progress hints, each when `fraction` of the work between two calls is
  /// done.
  void expect_progress_hints(double fraction);
  /// The work before the next arrival starts now: progress hints are measured from here.
  void begin_computing();
  /// The program gives a progress hint. Sends one short message if the next call needs an estimate.
  /// Returns an MPI error code.
  int progress_hint();

  /// Alike on all ranks.
  [[nodiscard]] bool has_progress_hints() const { return has_progress_hints_; }

  /// Begins a call and returns its number.
  CallNumber begin_call(Collective collective);
  /// This rank arrives at its call; `site` is the program's call site.
  void arrive(const void* site);
  /// Occasionally compares the ranks' clocks. To be called before leave() in calls that may wait
  /// for other ranks, in the same sequence on all ranks. One call in 64 of a rank on another system
  /// than rank 0's then waits for rank 0.
  void keep_time() noexcept;
  /// Compares the clocks now. Collective. Returns an MPI error code.
  int compare_clocks();
  /// This rank leaves the call. Returns an MPI error code, MPI_ERR_NO_MEM included.
  int leave(CallNumber call, const void* site) noexcept;

  /// This call uses an epoch, and later ones probably will: all ranks send an estimate for each of
  /// the next calls. All ranks must call this alike, even those that do not need the epoch.
  void expect_epoch(CallNumber call);
  /// The epoch of a call whose ranks all need the same order. Asks if necessary, which takes one
  /// round trip to rank 0's thread. Sets `epoch` to null if there are no estimates. Returns an MPI
  /// error code.
  int agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch);
  /// The same without asking: false while this rank does not know. True after an error.
  bool find_agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch);
  /// True while this rank has neither begun to close nor met an error.
  [[nodiscard]] bool is_open();
  /// Sets `profile` to the profile that all ranks use for the call; null if there is none. Asks
  /// only for a call beyond the last extension; rank 0 without a thread answers when it comes to
  /// that call. Returns an MPI error code.
  int agreed_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile);
  /// The prediction of this rank's latest call.
  [[nodiscard]] CallPrediction prediction_of_call() const;
  /// For the root of a shape in which no other rank needs the order. Null without estimates.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> newest_epoch();

  Progress proceed() override;

 private:
  /// The mean time from leaving a call made at `site` to the next arrival.
  struct Gap {
    const void* site;
    double seconds;
  };

  Arrival() = default;
  void say_farewell();
  bool estimate_next_call(CallNumber call, const void* site);
  void send(std::vector<std::int64_t> words);
  void ask(std::vector<std::int64_t> question);
  void take(Rank from, const std::vector<std::int64_t>& words);
  void coordinate(Rank from, const std::vector<std::int64_t>& words);
  [[nodiscard]] bool sends_estimate(CallNumber call) const;
  bool send_estimate();
  bool knows_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_cut_off() const;
  bool leaves_mpi_to_call();
  bool expects_more();
  double& gap_after(const void* site);

  Rank rank_ = 0;
  int p_ = 1;
  bool has_thread_ = false;
  MpiClock clock_;
  /// Its reader locks `mutex_`: a thread that holds `mutex_` may write, but not take a turn.
  MessageQueue queue_;
  mutable std::mutex mutex_;  ///< guards the members below; never held while MPI is called
  ArrivalCoordinator coordinator_{1};
  ArrivalMember member_;
  bool has_left_ = false;
  bool has_answered_ = false;  ///< as coordinator, since the thread last checked

  bool has_progress_hints_ = false;
  double fraction_ = 1;
  double last_exit_ = 0;
  double computing_since_ = 0;  ///< the last exit, or a later start of a persistent call
  const void* last_site_ = nullptr;
  std::vector<Gap> gaps_;
  /// The expected arrival at the next call, and the time of its latest progress hint; NaN: none.
  double expected_ = std::numeric_limits<double>::quiet_NaN();
  double hint_time_ = std::numeric_limits<double>::quiet_NaN();
  CallPrediction prediction_;
  ForecastError forecast_error_;
  CallNumber begun_ = 0;
  CallNumber arrived_ = 0;
  CallNumber left_ = 0;
  CallNumber timed_ = 0;           ///< number of keep_time() calls
  double left_to_call_until_ = 0;  ///< the thread leaves MPI to the call up to this time
  CallNumber epochs_until_ = 0;    ///< calls up to this one need an epoch; alike on all ranks
  Collective last_ = Collective::gather;
  std::map<CallNumber, Collective> under_way_;  ///< the collective of the call before each
};

}  // namespace tutti
