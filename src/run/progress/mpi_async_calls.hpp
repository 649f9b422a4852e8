/// Plain calls that the background thread begins before its rank makes them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocols/arrival_agreement.hpp"
#include "run/call/mpi_buffers.hpp"
#include "run/call/mpi_call.hpp"
#include "run/plan/gather_scatter.hpp"

namespace tutti {

class Arrival;

/// What calls go by beside their arguments.
struct AsyncContext {
  Bytes half_performance_length = 0;
  double rate = 1;                   ///< bytes that pass in a second
  std::shared_ptr<Arrival> arrival;  ///< null: nothing is known of arrivals
  CallNumber number = 0;             ///< of the call, among those that arrivals are known of
  bool agrees_on_order = false;      ///< all ranks need the order, not only the root
};

/// A thread cannot know what its rank will call. But a rank that is in a call knows what call that
/// is for all: MPI wants collective, root and bytes to be equal, and settings are. So it sends a
/// announcement, a short message that names the call, to each rank that could serve it now: a
/// parent in a scatter to the children that have children, and who waits to be called for in a
/// gather to the root. The thread of a rank that has made such a call before begins it, in memory
/// of Tutti's own. When the rank comes, the call is finished and its block copied; if it makes
/// another call, what was begun is given up. Nothing is guessed, so that nobody is sent what he
/// does not expect.
///
/// Regular collectives only: of the others no two ranks know the same sizes. All functions to be
/// called by one thread at a time.
class AsyncCalls {
 public:
  AsyncCalls(Executor& executor, GatherScatterPlanner& planner, Transport& transport, MPI_Comm comm,
             Rank rank, int p)
      : executor_(executor),
        planner_(planner),
        transport_(transport),
        comm_(comm),
        rank_(rank),
        p_(p) {}
  ~AsyncCalls();
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  /// The rank makes its next call. False if the thread has begun it already.
  bool enter();
  /// The rank's next call is none that the thread begins: what it has begun is given up.
  void enter_other() { abandon(); }
  /// The rank has made its call: the thread may begin the next one.
  void leave();
  /// The same for a call that it cannot make, as its arguments are not valid.
  void give_up();
  /// To be called in every regular call before it runs, with what is known to this call; null: as
  /// in the call before. Returns an MPI error code.
  int announce(const GatherScatterCall& call, Bytes bytes, const Plan& plan,
               const AsyncContext* async_context);
  /// Was this call begun by the thread? What else was is given up.
  [[nodiscard]] bool has_begun(const GatherScatterCall& call, Bytes bytes,
                               const Specification& specification);
  /// Runs the rest of the call that was begun. Returns an MPI error code.
  int finish(const GatherScatterCall& call);

  static constexpr int announcement_tag = 1022;
  using CallAnnouncement = std::array<std::int64_t, 6>;
  /// A announcement has come.
  void take(const CallAnnouncement& announcement);
  /// Announcements that are on their way to this rank.
  [[nodiscard]] bool expects_announcements() const { return expected_ > 0 && !in_error_; }
  /// Goes on with the next call, as far as it is known. Sets `moved` if anything came of it.
  /// Returns an MPI error code.
  int proceed(bool& moved);

 private:
  /// A call that this rank has made.
  struct Known {
    Collective collective = Collective::gather;
    Rank root = 0;
    Bytes bytes = 0;  ///< of each block
    Specification specification = {};
    std::int64_t digest = 0;  ///< of the specification
    bool agrees_on_order = false;
    const std::vector<Rank>* rank_order = nullptr;  ///< see GatherScatterProblem
  };
  /// A call that the thread has begun.
  struct Begun {
    Known known;
    GatherScatterCall call;  ///< into `block`
    std::vector<std::byte> block;
    std::shared_ptr<const ArrivalEpoch> epoch;
    const Plan* plan = nullptr;
    Scratch scratch;
    Iov iov;
    std::optional<MpiBuffers> buffers;
    int error = MPI_SUCCESS;  ///< met by the thread
  };
  struct ControlMessage {
    CallAnnouncement announcement;
    MPI_Request request{};
  };

  [[nodiscard]] const Known* find(const CallAnnouncement& announcement) const;
  const Known& note(const GatherScatterCall& call, Bytes bytes, const Plan& plan);
  /// Sets `epoch`; false as long as it is not known. Sets `known` to null if it never will be.
  bool find_epoch(const CallAnnouncement& announcement, const Known*& known,
                  std::shared_ptr<const ArrivalEpoch>& epoch);
  int begin(const CallAnnouncement& announcement, const Known& known,
            std::shared_ptr<const ArrivalEpoch> epoch);
  int send_announcements(const CallAnnouncement& announcement, const Plan& plan);
  int forget_what_has_left();
  int hand_over(const GatherScatterCall& call);
  int copy_block(MpiBuffers& to, BlockRange ranks);
  void abandon();

  Executor& executor_;
  GatherScatterPlanner& planner_;
  Transport& transport_;
  MPI_Comm comm_;
  Rank rank_;
  int p_;
  bool is_inside_ = true;  ///< the rank is in a call, or may be
  bool in_error_ = false;
  long expected_ = 0;  ///< announcements that have been sent and have not come
  AsyncContext async_context_;
  std::list<Known> known_;                      ///< the latest first
  std::deque<CallAnnouncement> announcements_;  ///< of calls to come
  std::list<ControlMessage> leaving_;
  std::unique_ptr<Begun> begun_;
};

}  // namespace tutti
