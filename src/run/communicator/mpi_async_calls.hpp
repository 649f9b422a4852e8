/// Asynchronous progress: blocking calls that the background thread begins before its rank does.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "protocols/arrival_agreement.hpp"
#include "run/call/mpi_buffers.hpp"
#include "run/call/mpi_call.hpp"
#include "run/mpi/exchange.hpp"
#include "run/plan/planner.hpp"

namespace tutti {

class PrivateComm;

/// Lets the background thread begin calls in Tutti's own memory.
///
/// A thread cannot know what its rank will call. But a rank inside a call knows the call of all
/// ranks: MPI requires equal collective, root and bytes, and settings are equal. So it announces
/// the call to the ranks that could serve it now. In a scatter a parent announces it to the
/// children that have children; in a gather a rank that awaits the root's signal announces it to
/// the root. The thread of a rank that has made such a call before then begins it. When the rank
/// makes this call, it finishes it and copies its blocks; if it makes another one, the begun call
/// is abandoned. Nothing is guessed, so no rank receives a message that it does not expect.
///
/// Regular collectives only: in irregular ones ranks know different sizes. One thread at a time.
class AsyncCalls {
 public:
  AsyncCalls(PrivateComm& comm, Transport& transport) : comm_(comm), transport_(transport) {}
  ~AsyncCalls();

  /// The rank enters its next call. False if the thread has begun a call.
  bool enter();
  /// The rank leaves its call: the thread may begin the next one.
  void leave();
  /// The rank leaves a call that it does not run here.
  void give_up();
  /// To be called in every regular call before it runs. Returns an MPI error code.
  int announce(const Plan& plan, const CallContext& context);
  /// True if the thread has begun this call. Abandons any other call that it has begun.
  [[nodiscard]] bool has_begun(const MpiCall& call, Bytes bytes,
                               const Specification& specification);
  /// Finishes the call that the thread has begun. Returns an MPI error code.
  int finish(const MpiCall& call);

  static constexpr int announcement_tag = 1022;
  /// Plain data.
  struct CallAnnouncement {
    std::int64_t call;     ///< its number on the communicator
    std::int64_t arrival;  ///< its number in the exchange of arrivals; 0: it uses none
    std::int64_t collective;
    std::int64_t root;
    Bytes bytes;          ///< of each block
    std::int64_t digest;  ///< of the specification
  };
  /// Takes an announcement that has arrived.
  void take(const CallAnnouncement& announcement);
  /// The plan of the call that the thread has begun; null if there is none.
  [[nodiscard]] const Plan* begun() const { return begun_ == nullptr ? nullptr : begun_->plan; }
  /// True while announcements are in flight to this rank.
  [[nodiscard]] bool expects_announcements() const { return expected_ > 0; }
  /// May messages of a call that the thread has begun still come, because it never ended?
  [[nodiscard]] bool leaves_open() const { return in_error_ || begun_ != nullptr; }
  /// Begins or continues the next call, if it is announced and the rank is not in a call. Sets
  /// `moved` if it made progress. Returns an MPI error code.
  int proceed(bool& moved);

 private:
  /// A call that this rank has made.
  struct Known {
    Collective collective = Collective::gather;
    Rank root = 0;
    Bytes bytes = 0;  ///< of each block
    Specification specification = {};
    std::int64_t digest = 0;  ///< a hash of the specification
    CallContext context;      ///< of the latest such call; its epoch and sizes last no longer

    [[nodiscard]] bool is(Rank of, Bytes each, const Specification& by) const {
      return root == of && bytes == each && specification == by;
    }
  };
  /// A call that the thread has begun.
  struct Begun {
    Known known;
    MpiCall call;  ///< into `block`
    std::vector<std::byte> block;
    const Plan* plan = nullptr;
    Scratch scratch;
    Iov iov;
    std::optional<CallBuffers> buffers;
    int error = MPI_SUCCESS;  ///< met by the thread
  };

  [[nodiscard]] const Known* find(const CallAnnouncement& announcement) const;
  const Known& note(const Plan& plan, const CallContext& context);
  /// Sets `epoch`; false while it is not known yet. Sets `known` to null if it never will be.
  bool find_epoch(const CallAnnouncement& announcement, const Known*& known,
                  std::shared_ptr<const ArrivalEpoch>& epoch);
  int begin(const CallAnnouncement& announcement, const Known& known, const ArrivalEpoch* epoch);
  int send_announcements(const CallAnnouncement& announcement, const Plan& plan);
  int hand_over(const MpiCall& call);
  void abandon();

  PrivateComm& comm_;
  Transport& transport_;   ///< of unexpected messages
  bool is_inside_ = true;  ///< the rank is in a call, or may be
  bool in_error_ = false;
  long expected_ = 0;                           ///< announcements in flight to this rank
  std::list<Known> known_;                      ///< the latest first
  std::deque<CallAnnouncement> announcements_;  ///< of calls to come
  SentMessages sent_;
  std::unique_ptr<Begun> begun_;
};

}  // namespace tutti
