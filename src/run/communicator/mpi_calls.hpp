/// Runs calls over a private communicator.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "run/call/mpi_buffers.hpp"
#include "run/call/mpi_call.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/plan/planner.hpp"

namespace tutti {

class AsyncCalls;
class PrivateComm;

/// The plans of one communicator, and the calls that run them.
///
/// A call: PrivateComm::begin(), then repeat(); if that is false, learn_types() and run(). With
/// invalid arguments PrivateComm::give_up() instead.
class Calls {
 public:
  explicit Calls(PrivateComm& comm) : comm_(comm) {}

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

  /// Sets `plan` to this rank's plan for such a call, after the exchanges that it needs. It lasts
  /// until the next plan is made. Collective; moves no data of the program. Returns an MPI error
  /// code.
  int prepare(const MpiCall& call, const Specification& specification, const CallContext& context,
              const Plan*& plan);
  /// Sets `sizes` to the bytes of all ranks' blocks in a gather or scatter. Collective. Returns an
  /// MPI error code.
  int learn_sizes(const MpiCall& call, std::vector<Bytes>& sizes);

  [[nodiscard]] Planner& planner() { return planner_; }

 private:
  /// A call whose plan follows from its arguments alone, while handles keep their meaning.
  struct Prepared {
    MpiCall call;
    const Plan* plan = nullptr;
    unsigned generation = 0;  ///< the planner's
  };

  bool learn(CallSide& side, std::vector<TypeInfo>& infos);
  void find_sizes(const MpiCall& call);
  [[nodiscard]] BufferTraits traits_of(const MpiCall& call, const Specification& specification,
                                       bool is_shuffled) const;
  [[nodiscard]] CallProblem problem_of(const MpiCall& call, const Specification& specification,
                                       const CallContext& context);
  int acquire(const CallProblem& problem, const Plan*& plan);
  int learn_layout(const MpiCall& call);
  template <class Run>
  int in_turn(const MpiCall& call, Bytes own, const Specification& specification, Run run);
  int run_in_turn(const MpiCall& call, const CallProblem& problem, const CallContext& context);
  int execute(const MpiCall& call, const Plan& plan, const CallContext* context = nullptr);
  int execute_reduction(const MpiCall& call, const Plan& plan);
  [[nodiscard]] bool is_same(const MpiCall& call, const Prepared& before) const;
  void remember(const MpiCall& call, const Plan& plan);

  PrivateComm& comm_;
  Planner planner_;
  std::vector<Bytes> sizes_;  ///< of the current call
  ElementLayout layout_;      ///< of the current reduction
  OperationCache operations_;
  std::vector<TypeInfo> send_infos_;
  std::vector<TypeInfo> receive_infos_;
  std::array<Prepared, 8> prepared_;
  std::size_t next_prepared_ = 0;
};

}  // namespace tutti
