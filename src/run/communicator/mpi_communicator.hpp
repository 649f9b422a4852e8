/// Tutti's state for each communicator of the program.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "run/call/mpi_buffers.hpp"
#include "run/communicator/mpi_calls.hpp"
#include "run/communicator/mpi_unexpected.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/plan/executor.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

/// The private duplicate of a communicator, with all state that calls reuse.
class PrivateComm {
 public:
  /// Collective over `of`; split() leaves `made` null at ranks that are no members. Errors of the
  /// new communicator come as codes, not through the program's handler. Both return such a code.
  static int duplicate(MPI_Comm of, std::unique_ptr<PrivateComm>& made);
  static int split(MPI_Comm of, bool member, int key, std::unique_ptr<PrivateComm>& made);
  ~PrivateComm();
  PrivateComm(const PrivateComm&) = delete;
  PrivateComm& operator=(const PrivateComm&) = delete;

  /// Frees the communicator. If call announcements from other ranks are still missing
  /// (UnexpectedMessages::settle), leaks it: MPI_Finalize frees it. No call may follow. Collective.
  void free();
  /// Leaves the communicator to MPI_Finalize, where not all ranks have one. No call may follow.
  void leak() { comm_.release(); }
  [[nodiscard]] MPI_Comm handle() const { return comm_.handle(); }
  /// Sets the bytes that a rank may stage in each call; 0: no bound. Call it with the same value on
  /// all ranks, before the first call.
  void limit_staging(Bytes memory) {
    memory_ = memory;
    calls_.planner().limit_staging(memory);
  }
  [[nodiscard]] Bytes memory() const { return memory_; }

  /// Call it in every call that the ranks run here, even if its arguments are invalid at this rank;
  /// it counts each call once.
  void begin(MpiCall& call) {
    if (!std::exchange(call.begun, true)) count_call();
  }
  /// Instead of Calls::run(), for a call that has begun and that Tutti does not run on this rank:
  /// the background thread drops it. Local.
  void give_up();
  [[nodiscard]] Calls& calls() { return calls_; }

  /// For classes that run a plan in parts, or other collectives.
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] Transport& transport() {
    return async_ ? static_cast<Transport&>(*async_) : transport_;
  }
  [[nodiscard]] TypeCache& types() { return types_; }
  [[nodiscard]] Scratch& scratch() { return scratch_; }
  [[nodiscard]] Iov& iov() { return iov_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  /// Keeps the background thread out during a call.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn();
  /// The calls that the background thread begins; null if it begins none. Requires the turn.
  [[nodiscard]] AsyncCalls* async_calls() { return async_ ? &async_->calls() : nullptr; }
  /// Call it in calls that use the background thread: between calls the thread then receives
  /// unexpected messages. Local.
  void receive_unexpected();
  /// Has receive_unexpected() ever been called?
  [[nodiscard]] bool receives_unexpected() const { return async_.has_value(); }
  /// Call it in all other calls: after many in a row the thread rests. Local.
  void receive_nothing_unexpected();

 private:
  explicit PrivateComm(OwnedComm comm)
      : comm_(std::move(comm)),
        rank_(comm_.rank()),
        p_(comm_.p()),
        transport_(handle(), rank_),
        executor_(max_tag()),
        calls_(*this) {}

  [[nodiscard]] static int max_tag();
  void count_call();

  OwnedComm comm_;
  Bytes memory_ = 0;
  Rank rank_;
  int p_;
  MpiTransport transport_;
  std::optional<UnexpectedMessages> async_;
  Executor executor_;
  Scratch scratch_;
  TypeCache types_;
  Iov iov_;
  Calls calls_;
};

}  // namespace tutti
