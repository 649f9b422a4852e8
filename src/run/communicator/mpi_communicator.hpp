/// Tutti's state for each communicator of the program, and the calls that run on it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "run/call/mpi_buffers.hpp"
#include "run/call/mpi_call.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/communicator/mpi_unexpected.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/plan/planner.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

/// The private duplicate of a communicator, with its plans, the calls that run them, and all state
/// that calls reuse.
///
/// A call: begin(), then repeat(); if that is false, learn_types() and run(). With invalid
/// arguments give_up() instead.
class PrivateComm {
 public:
  /// Collective over `of`; split() leaves `made` null at ranks that are no members. Errors of the
  /// new communicator come as codes, not through the program's handler. Both return such a code.
  static int duplicate(MPI_Comm of, const PlanSettings& settings,
                       std::unique_ptr<PrivateComm>& made);
  static int split(MPI_Comm of, bool member, int key, const PlanSettings& settings,
                   std::unique_ptr<PrivateComm>& made);
  /// Frees the communicator, if no more messages can come; else leaks it: MPI_Finalize frees it.
  /// More may come if this rank has begun a call that it has not ended, or if call announcements
  /// are missing (UnexpectedMessages::settle). Collective.
  ~PrivateComm();

  /// Leaves the communicator to MPI_Finalize, where not all ranks have one. No call may follow.
  void leak() { comm_.release(); }
  [[nodiscard]] MPI_Comm handle() const { return comm_.handle(); }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int p() const { return p_; }
  [[nodiscard]] const PlanSettings& settings() const { return planner_.settings(); }

  /// Call it in every call that the ranks run here, even if its arguments are invalid at this rank;
  /// it counts each call once.
  void begin(MpiCall& call);
  /// Ends the call that has begun, after a run of the executor. False if that has left messages
  /// open. Included in run() and repeat(). Local.
  bool end();
  /// Counts so many calls at once that began and ended elsewhere. Local.
  void skip(std::uint64_t calls) {
    // While the background thread may count calls nothing passes, and this must not write.
    if (calls > 0) executor_.skip_calls(static_cast<std::int64_t>(calls));
  }
  /// Instead of run(), for a call that has begun and that Tutti does not run on this rank, or on no
  /// rank (`by_all`): the background thread drops it. Local.
  void give_up(bool by_all = true);
  /// Looks up the operation and the datatypes that are significant at this rank. False if one is
  /// invalid, or the operation is not defined for the type. The error reaches no communicator of
  /// the program. The result lasts until the next call. Local.
  [[nodiscard]] bool learn_types(MpiCall& call);
  /// Runs a call that differs from a recent one only in its addresses, if its plan follows from its
  /// arguments alone: the fast path for small blocks. Each rank decides alone; others may use
  /// run(). If it returns false, it did nothing. Sets `error` to an MPI error code.
  [[nodiscard]] bool repeat(MpiCall& call, const Specification& specification, int& error);
  /// Would each rank stage at most its limit in such a call? Equal on all ranks. If not, the MPI's
  /// own runs. Gathers and scatters always fit.
  [[nodiscard]] bool fits(const MpiCall& call, const Specification& specification);
  /// Runs a call with valid arguments and known types that fits. Returns an MPI error code:
  /// MPI_ERR_TRUNCATE after a count mismatch.
  int run(const MpiCall& call, const Specification& specification, const CallContext& context);

  /// What the latest call that this rank ran had instead of its specification, which would have
  /// staged too much; none: it ran as specified. Until the next call.
  [[nodiscard]] const std::optional<Specification>& ran_instead() const { return instead_; }

  /// Sets `plan` to this rank's plan for such a call, after the exchanges that it needs. It lasts
  /// until the next plan is made. Collective; moves no data of the program. Returns an MPI error
  /// code.
  int prepare(const MpiCall& call, const Specification& specification, const CallContext& context,
              const Plan*& plan);
  /// Sets `sizes` to the bytes of all ranks' blocks in a gather or scatter. Collective. Returns an
  /// MPI error code.
  int learn_sizes(const MpiCall& call, std::vector<Bytes>& sizes);

  /// For classes that run a plan in parts, or other collectives.
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] Scratch& scratch() { return scratch_; }
  [[nodiscard]] Transport& transport() {
    return async_ ? static_cast<Transport&>(*async_) : transport_;
  }

  /// Call it in calls that use the background thread: between calls the thread then receives
  /// unexpected messages. Local.
  void receive_unexpected();
  /// Has receive_unexpected() ever been called?
  [[nodiscard]] bool receives_unexpected() const { return async_.has_value(); }
  /// Call it in all other calls: after many in a row the thread rests. Local.
  void receive_nothing_unexpected();
  /// Ends the receiving of unexpected messages. Waits for announcements of calls as
  /// UnexpectedMessages::settle does; if messages can still come, leaks the communicator. No call
  /// may follow. Does nothing the second time. Collective.
  void end_receiving();

 private:
  /// A call whose plan follows from its arguments alone, while handles keep their meaning.
  struct Prepared {
    MpiCall call;
    const Plan* plan = nullptr;
    unsigned generation = 0;  ///< the planner's
    CallContext context;      ///< the lasting one
  };

  PrivateComm(OwnedComm comm, const PlanSettings& settings);

  /// Keeps the background thread out during a call.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn();
  bool learn(CallSide& side, std::vector<TypeInfo>& infos);
  [[nodiscard]] BufferTraits traits_of(const MpiCall& call, const Specification& specification,
                                       bool is_shuffled) const;
  [[nodiscard]] CallProblem problem_of(const MpiCall& call, const Specification& specification,
                                       const CallContext& context);
  void leave_used_scratch();
  int acquire(const CallProblem& problem, const Plan*& plan);
  int learn_layout(const MpiCall& call);
  template <class Run>
  int in_turn(const MpiCall& call, Bytes own, const Specification& specification, Run run);
  int execute(const MpiCall& call, const Plan& plan, const CallContext& context);
  int execute_reduction(const MpiCall& call, const Plan& plan);
  [[nodiscard]] bool is_same(const MpiCall& call, const Prepared& before) const;
  void remember(const MpiCall& call, const Plan& plan, const CallContext& context);

  OwnedComm comm_;
  Rank rank_;
  int p_;
  MpiTransport transport_;
  std::optional<UnexpectedMessages> async_;
  Executor executor_;
  Planner planner_;
  Scratch scratch_;
  bool is_open_ = false;   ///< a call has begun and not ended: its messages may come
  bool has_left_ = false;  ///< an earlier one never ended
  TypeCache types_;
  Iov iov_;
  CallSizes sizes_;                       ///< of the current call
  std::optional<Specification> instead_;  ///< of the latest one
  ElementLayout layout_;                  ///< of the current reduction
  OperationCache operations_;
  std::vector<TypeInfo> send_infos_;
  std::vector<TypeInfo> receive_infos_;
  std::array<Prepared, 8> prepared_;
  std::size_t next_prepared_ = 0;
};

}  // namespace tutti
