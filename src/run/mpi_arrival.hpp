/// When the ranks of one communicator arrive: estimates, their exchange, and what calls make of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "knowledge/arrival_agreement.hpp"
#include "run/background.hpp"
#include "run/mpi_channel.hpp"
#include "run/mpi_clock.hpp"

namespace tutti {

/// One rank's part in the agreement on arrivals (knowledge/arrival_agreement.hpp), with rank 0 of
/// the communicator as coordinator. Its background thread answers while rank 0 computes; where some
/// rank can have no such thread, only shapes in which the root alone looks at the order use what is
/// known, and nobody asks. Functions may be called by several threads at once.
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
  /// The program is at an edge. Sends one short message.
  int edge();

  /// A call begins; it gets its number.
  CallNumber begin_call();
  /// This rank arrives at its call; `site` is what the program calls it from.
  void arrive(const void* site);
  /// This rank leaves the call.
  int leave(CallNumber call, const void* site);

  /// For a call whose ranks all need the same order. Asks if need be, which takes one round trip
  /// to rank 0's thread. Sets `version` to null where nothing is known. Returns an MPI error code.
  int agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version);
  /// The same without asking: false as long as this rank does not know. True after an error.
  bool find_agreed_version(CallNumber call, std::shared_ptr<const ArrivalVersion>& version);
  /// Has this rank neither left nor met an error?
  [[nodiscard]] bool is_open();
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
  int tell_estimate(double arrival);
  int deliver(std::vector<ArrivalMail>& mail);
  bool take_mail();
  int exchange(bool& moved);
  double& gap_after(const void* site);

  std::mutex mutex_;
  Rank rank_ = 0;
  int p_ = 1;
  bool has_thread_ = false;
  MpiClock clock_;
  std::unique_ptr<MpiChannel> channel_;
  ArrivalCoordinator coordinator_{1};
  ArrivalMember member_;
  int error_ = MPI_SUCCESS;  ///< of the channel; nothing is exchanged after it
  bool has_left_ = false;

  bool has_edges_ = false;
  double fraction_ = 1;
  double last_exit_ = 0;
  const void* last_site_ = nullptr;
  std::vector<Gap> gaps_;
  CallNumber begun_ = 0;
  CallNumber arrived_ = 0;
  std::set<CallNumber> under_way_;
};

}  // namespace tutti
