/// When the ranks of one communicator arrive: estimates, their exchange, and what calls make of it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "protocols/arrival_agreement.hpp"
#include "run/arrival/message_queue.hpp"
#include "run/arrival/mpi_channel.hpp"
#include "run/arrival/mpi_clock.hpp"
#include "run/background.hpp"

namespace tutti {

/// What this rank expected of one of its calls, for reports.
struct CallPrediction {
  /// Seconds: the expected arrival less the actual one; NaN where nothing was expected.
  double ahead = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();  ///< the running mean, in seconds
  double progress_hint =
      std::numeric_limits<double>::quiet_NaN();  ///< seconds since the last progress_hint
};

/// One rank's part in the agreement on arrivals (protocols/arrival_agreement.hpp), with rank 0 of
/// the communicator as coordinator. Its background thread answers while rank 0 computes; where some
/// rank can have no such thread, only shapes in which the root alone looks at the order use what is
/// known, and nobody asks; profiles, which change seldom, are told by rank 0 when it comes to a
/// call that has none. Functions may be called by several threads at once.
///
/// A rank tells its estimate for each of the first calls, after a change, where calls of another
/// kind begin, and for as long as calls need a epoch each; else for every eighth call, on all
/// ranks the same.
class Arrival final : public BackgroundTask {
 public:
  /// Collective. Returns an MPI error code. Starts the process's background thread if it may.
  static int open(MPI_Comm comm, std::shared_ptr<Arrival>& made);
  ~Arrival() override;
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// One step of the end, to be repeated until it is true, which is when all ranks have begun it
  /// too. Waits for nobody, so that one rank can leave several communicators that others leave in
  /// another sequence. Calls that no epoch has been granted to know nothing of arrivals any more.
  /// No rank may be in a call, but requests may be under way. Does not throw.
  bool try_close();

  /// Every rank has a background thread. Alike on all ranks.
  [[nodiscard]] bool has_thread() const { return has_thread_; }
  [[nodiscard]] const MpiClock& clock() const { return clock_; }

  /// From now on the program says how far it is: `fraction` of the work between two calls is done
  /// at each progress_hint.
  void expect_progress_hints(double fraction);
  /// The program begins to compute what a call that has begun waits for: edges count from here.
  void begin_computing();
  /// The program is at an progress_hint. Sends one short message.
  int progress_hint();

  /// Alike on all ranks.
  [[nodiscard]] bool has_progress_hints() const { return has_progress_hints_; }

  /// A call begins; it gets its number.
  CallNumber begin_call(Collective collective);
  /// This rank arrives at its call; `site` is what the program calls it from.
  void arrive(const void* site);
  /// The bytes of this rank's block, where the ranks' blocks may differ.
  void note_block(Bytes block);
  /// What the call runs, where that is to be compared. Alike on all ranks.
  void note_algorithm(CallNumber call, const CallSignature& kind, AlgorithmId ran);
  /// To be called before a call is left that may wait for others. Compares the ranks' clocks now
  /// and then, where they are not one: for ranks of other systems than rank 0's one call in 64
  /// waits for rank 0. Sequence of calls alike on all ranks.
  void keep_time(CallNumber call) noexcept;
  /// This rank leaves the call. Returns an MPI error code, that of lost memory included.
  int leave(CallNumber call, const void* site) noexcept;

  /// The call that is made goes by a epoch, and so, probably, do those after it: all ranks tell
  /// of each call from now on, and for a while. On all ranks alike, also on those that need not
  /// know it.
  void expect_epoch(CallNumber call);
  /// For a call whose ranks all need the same order. Asks if need be, which takes one round trip
  /// to rank 0's thread. Sets `epoch` to null where nothing is known. Returns an MPI error code.
  int agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch);
  /// The same without asking: false as long as this rank does not know. True after an error.
  bool find_agreed_epoch(CallNumber call, std::shared_ptr<const ArrivalEpoch>& epoch);
  /// Has this rank neither left nor met an error?
  [[nodiscard]] bool is_open();
  /// Sets `profile` to what all ranks of the call take as usual, null where nothing is known. Only
  /// a call beyond the extend_until asks, or waits for rank 0 to come to it where that has no
  /// thread. Returns an MPI error code.
  int agreed_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile);
  /// Of the call that this rank has come to last.
  [[nodiscard]] CallPrediction prediction_of_call() const;
  /// For the root of a shape in which nobody else needs the order. Null where nothing is known.
  [[nodiscard]] std::shared_ptr<const ArrivalEpoch> newest_epoch();

  Progress proceed() override;

 private:
  /// How long after leaving a call from one site the program comes to the next call.
  struct Gap {
    const void* site;
    double seconds;
  };

  struct UnderWay {
    Collective after;                   ///< that of the call before
    std::optional<CallSignature> kind;  ///< where it is to be compared
    AlgorithmId ran;
  };

  Arrival() = default;
  int agree_on_threads(MPI_Comm comm);
  void say_farewell();
  bool estimate_next_call(CallNumber call, const void* site);
  void send(std::vector<std::int64_t> words);
  void ask(std::vector<std::int64_t> question);
  void take(Rank from, const std::vector<std::int64_t>& words);
  void coordinate(Rank from, const std::vector<std::int64_t>& words);
  [[nodiscard]] bool sends_estimate(CallNumber call) const;
  bool send_estimate();
  bool find_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile);
  bool knows_profile(CallNumber call, std::shared_ptr<const ArrivalEpoch>& profile);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool is_cut_off() const;
  bool leaves_mpi_to_call();
  bool expects_more();
  void count_signature(const CallSignature& kind);
  double& gap_after(const void* site);

  Rank rank_ = 0;
  int p_ = 1;
  bool has_thread_ = false;
  MpiClock clock_;
  /// Calls back: who holds `mutex_` may write, but not take a turn.
  MessageQueue queue_;
  mutable std::mutex mutex_;  ///< of what follows; never held while MPI is called
  ArrivalCoordinator coordinator_{1};
  ArrivalMember member_;
  bool has_left_ = false;
  bool has_answered_ = false;  ///< as coordinator, since the thread has looked
  int failures_to_close_ = 0;  ///< in a row

  bool has_progress_hints_ = false;
  double fraction_ = 1;
  double last_exit_ = 0;
  double last_arrival_ = 0;
  TimingSample sample_;      ///< through the call left last
  CallSignature signature_;  ///< of the call told of last
  CallNumber calls_of_signature_ = 0;
  bool is_new_signature_ = false;
  double computing_since_ = 0;  ///< the last exit, or the start of a persistent call if later
  const void* last_site_ = nullptr;
  std::vector<Gap> gaps_;
  double expected_ = std::numeric_limits<double>::quiet_NaN();   ///< arrival at the next call
  double hint_time_ = std::numeric_limits<double>::quiet_NaN();  ///< passed since the last arrival
  CallPrediction prediction_;
  ForecastError forecast_error_;
  Bytes block_ = 0;
  CallNumber begun_ = 0;
  CallNumber arrived_ = 0;
  CallNumber left_ = 0;
  CallNumber timed_ = 0;           ///< calls that might wait
  double left_to_call_until_ = 0;  ///< of the common clock
  CallNumber epochs_until_ = 0;    ///< calls up to this one are taken to need a epoch; alike
  Collective last_ = Collective::gather;
  std::map<CallNumber, UnderWay> under_way_;
};

}  // namespace tutti
