/// Tutti's state for each communicator of the program.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "protocols/arrival_agreement.hpp"
#include "run/call/mpi_buffers.hpp"
#include "run/call/mpi_call.hpp"
#include "run/communicator/mpi_collective.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/plan/executor.hpp"
#include "run/plan/gather_scatter.hpp"
#include "run/progress/mpi_unexpected.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

/// The private duplicate of a communicator, with all state that calls reuse.
///
/// A gather or scatter: begin(), then repeat(); if that is false, learn_types() and run(). With
/// invalid arguments take_part_as_dummy() instead, or give_up() where no rank waits for this one.
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
    planner_.limit_staging(memory);
  }
  [[nodiscard]] Bytes memory() const { return memory_; }

  /// Call it in every call that the ranks run here, even if its arguments are invalid at this rank;
  /// it counts each call once.
  template <class Call>
  void begin(Call& call) {
    if (!std::exchange(call.begun, true)) count_call();
  }

  /// Instead of run(), for a call that has begun and that Tutti does not run on this rank: the
  /// background thread drops it. Local.
  void give_up();
  /// Takes part as a dummy in a call whose arguments are invalid at this rank, if other ranks need
  /// it for a size exchange: with an empty block, and at the root with empty blocks.
  void take_part_as_dummy(const GatherScatterCall& call, const Specification& specification,
                          const CallContext& context);

  /// Runs a call of MPI_Gather or MPI_Scatter that differs from a recent one only in its addresses:
  /// the fast path for small blocks. Each rank decides alone; others may use run(). If it returns
  /// false, it did nothing. Sets `error` to an MPI error code.
  [[nodiscard]] bool repeat(GatherScatterCall& call, const Specification& specification,
                            int& error);

  /// Looks up the datatypes that are significant at this rank. False if one is invalid. The error
  /// reaches no communicator of the program. Local.
  [[nodiscard]] bool learn_types(GatherScatterCall& call);

  /// Runs a gather or scatter with valid arguments and known types. Returns an MPI error code:
  /// MPI_ERR_TRUNCATE after a count mismatch, in which no rank waits in vain.
  int run(const GatherScatterCall& call, const Specification& specification,
          const CallContext& context);

  /// Sets `plan` to this rank's plan for such a call, after the exchanges that it needs. It lasts
  /// until the next plan is made. Collective; moves no data of the program. Returns an MPI error
  /// code.
  int prepare(const GatherScatterCall& call, const Specification& specification,
              const CallContext& context, const Plan*& plan);
  /// Sets `sizes` to the bytes of all ranks' blocks. Collective. Returns an MPI error code.
  int learn_sizes(const GatherScatterCall& call, std::vector<Bytes>& sizes);
  /// All other collectives.
  [[nodiscard]] CollectiveCalls& collectives() { return collectives_; }

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
  /// Runs a call that the background thread never begins, and keeps that thread out meanwhile.
  template <class Run>
  int in_turn(Run run) {
    const auto turn = take_turn();
    if (async_) async_->calls().enter_other();
    const int error = run();
    if (async_) async_->calls().leave();
    return error;
  }
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
        collectives_(*this) {}

  /// A call whose plan follows from its arguments alone, while handles keep their meaning.
  struct Prepared {
    GatherScatterCall call;
    const Plan* plan = nullptr;
    unsigned generation = 0;  ///< the planner's
  };

  [[nodiscard]] GatherScatterProblem problem_of(const GatherScatterCall& call) const;
  void count_call();
  /// Keeps the background thread out during a call.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn();
  [[nodiscard]] bool is_same(const GatherScatterCall& call, const Prepared& before) const;
  void remember(const GatherScatterCall& call, const Plan& plan);
  int run_in_turn(const GatherScatterCall& call, const Specification& specification,
                  const CallContext& context);
  int execute(const GatherScatterCall& call, const Plan& plan,
              const AsyncContext* async_context = nullptr);
  [[nodiscard]] GatherScatterProblem problem_of(const GatherScatterCall& call,
                                                const Specification& specification,
                                                const CallContext& context) const;
  int exchange_expected(const GatherScatterCall& call);
  int run_as_expected(const GatherScatterCall& call, const GatherScatterProblem& problem);

  OwnedComm comm_;
  Bytes memory_ = 0;
  Rank rank_;
  int p_;
  MpiTransport transport_;
  std::optional<UnexpectedMessages> async_;
  Executor executor_;
  GatherScatterPlanner planner_;
  Scratch scratch_;
  TypeCache types_;
  Iov iov_;
  std::array<Prepared, 4> prepared_;
  std::size_t next_prepared_ = 0;
  CollectiveCalls collectives_;
};

}  // namespace tutti
