/// When the ranks of one communicator arrive: estimates, their exchange, and what calls make of it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "knowledge/arrival_agreement.hpp"
#include "run/background.hpp"
#include "run/mpi_channel.hpp"
#include "run/mpi_clock.hpp"

namespace tutti {

/// What this rank expected of one of its calls, for reports.
struct CallPrediction {
  /// Seconds: the expected arrival less the actual one; NaN where nothing was expected.
  double ahead = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();  ///< the running mean, in seconds
};

/// One rank's part in the agreement on arrivals (knowledge/arrival_agreement.hpp), with rank 0 of
/// the communicator as coordinator. Its background thread answers while rank 0 computes; where some
/// rank can have no such thread, only shapes in which the root alone looks at the order use what is
/// known, and nobody asks; pictures, which change seldom, are told by rank 0 when it comes to a
/// call that has none. Functions may be called by several threads at once.
///
/// A rank tells its estimate for each of the first calls, after a change, and for as long as calls
/// need a version each; else for every eighth call, on all ranks the same.
class Arrival final : public BackgroundTask {
 public:
  /// Collective. Returns an MPI error code. Starts the process's background thread if it may.
  static int open(MPI_Comm comm, std::shared_ptr<Arrival>& made);
  ~Arrival() override;
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  /// Calls that no version has been granted to know nothing of arrivals any more.
  /// Two steps, both collective, so that one rank can leave several communicators that others leave
  /// in another sequence. No rank may be in a call, but requests may be under
  /// way.
  void begin_close();
  void finish_close();

  /// Every rank has a background thread. Alike on all ranks.
  [[nodiscard]] bool has_thread() const { return has_thread_; }
  [[nodiscard]] const MpiClock& clock() const { return clock_; }

  /// From now on the program says how far it is: `fraction` of the work between two calls is done
  /// at each edge.
  void expect_edges(double fraction);
  /// The program begins to compute what a call that has begun waits for: edges count from here.
  void begin_computing();
  /// The program is at an edge. Sends one short message.
  int edge();

  /// Alike on all ranks.
  [[nodiscard]] bool has_edges() const { return has_edges_; }

  /// A call begins; it gets its number.
  CallNumber begin_call(Collective collective);
  /// This rank arrives at its call; `site` is what the program calls it from.
  void arrive(const void* site);
  /// The bytes of this rank's block, where the ranks' blocks may differ.
  void note_block(Bytes block);
  /// This rank leaves the call.
  int leave(CallNumber call, const void* site);

  /// For a call whose ranks all need the same order. Asks if need be, which takes one round trip
  /// to rank 0's thread. Sets `version` to null where nothing is known. Returns an MPI error code.
  int agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version);
  /// The same without asking: false as long as this rank does not know. True after an error.
  bool find_agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version);
  /// Has this rank neither left nor met an error?
  [[nodiscard]] bool is_open();
  /// Sets `picture` to what all ranks of the call take as usual, null where nothing is known. Only
  /// a call beyond the lease asks, or waits for rank 0 to come to it where that has no thread.
  /// Returns an MPI error code.
  int agreed_picture(CallNumber call, std::shared_ptr<const ArrivalVersion>& picture);
  /// Of the call that this rank has come to last.
  [[nodiscard]] CallPrediction prediction_of_call() const;
  /// For the root of a shape in which nobody else needs the order. Null where nothing is known.
  [[nodiscard]] std::shared_ptr<const ArrivalVersion> newest_version();

  Progress proceed() override;

 private:
  /// How long after leaving a call from one site the program comes to the next call.
  struct Gap {
    const void* site;
    double seconds;
  };

  Arrival() = default;
  int agree_on_threads(MPI_Comm comm);
  int tell(std::vector<std::int64_t> words);
  void expect_at(double arrival);
  int tell_estimate();
  bool find_picture(CallNumber call, std::shared_ptr<const ArrivalVersion>& picture);
  int keep(int error);
  int deliver(std::vector<ArrivalMail>& mail);
  bool take_mail();
  int exchange(bool& moved);
  double& gap_after(const void* site);

  mutable std::mutex mutex_;
  Rank rank_ = 0;
  int p_ = 1;
  bool has_thread_ = false;
  MpiClock clock_;
  std::unique_ptr<MpiChannel> channel_;
  ArrivalCoordinator coordinator_{1};
  ArrivalMember member_;
  int error_ = MPI_SUCCESS;  ///< the channel's first
  bool has_left_ = false;

  bool has_edges_ = false;
  double fraction_ = 1;
  double last_exit_ = 0;
  double computing_since_ = 0;  ///< the last exit, or the start of a persistent call if later
  const void* last_site_ = nullptr;
  std::vector<Gap> gaps_;
  double expected_ = std::numeric_limits<double>::quiet_NaN();  ///< arrival at the next call
  CallPrediction prediction_;
  ForecastError forecast_error_;
  Bytes block_ = 0;
  CallNumber begun_ = 0;
  CallNumber arrived_ = 0;
  CallNumber versions_until_ = 0;  ///< calls up to this one are taken to need a version
  Collective last_ = Collective::gather;
  std::map<CallNumber, Collective> under_way_;  ///< and the collective of the call before each
};

}  // namespace tutti
