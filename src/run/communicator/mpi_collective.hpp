/// Runs collectives other than gathers and scatters over a private communicator.
#pragma once

#include <array>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/plan/collective.hpp"

namespace tutti {

class PrivateComm;

/// The plans of one communicator, and the calls that run them.
class CollectiveCalls {
 public:
  explicit CollectiveCalls(PrivateComm& comm) : comm_(comm) {}

  /// Looks up the operation and the datatypes that are significant at this rank. False if one is
  /// invalid, or the operation is not defined for the type. The error reaches no communicator of
  /// the program. The result lasts until the next call.
  [[nodiscard]] bool learn_types(CollectiveCall& call);

  /// Runs a call that differs from a recent one only in its addresses, if its plan follows from its
  /// arguments alone: the fast path for small blocks. False if there is none. Sets `error` to an
  /// MPI error code.
  [[nodiscard]] bool repeat(CollectiveCall& call, const Specification& specification, int& error);

  /// Would each rank stage at most its limit in such a call? Equal on all ranks. If not, the MPI's
  /// own runs.
  [[nodiscard]] bool fits(const CollectiveCall& call, const Specification& specification);
  /// Runs a call with valid arguments and known types that fits. Returns an MPI error code.
  int run(const CollectiveCall& call, const Specification& specification,
          const CallContext& context);

  /// Takes part as a dummy in a call whose arguments are invalid at this rank, with zeros for data,
  /// if one side is valid and gives the sizes that the other ranks expect.
  void take_part_as_dummy(const CollectiveCall& call, const Specification& specification,
                          const CallContext& context);

 private:
  struct Prepared {
    CollectiveCall call;
    const Plan* plan = nullptr;
    unsigned generation = 0;  ///< the planner's
  };

  bool learn(CallSide& side, std::vector<TypeInfo>& infos);
  void find_sizes(const CollectiveCall& call);
  [[nodiscard]] CollectiveProblem problem_of(const CollectiveCall& call,
                                             const Specification& specification,
                                             const CallContext& context);
  int learn_layout(const CollectiveCall& call);
  int execute(const CollectiveCall& call, const Plan& plan);
  int execute_reduction(const CollectiveCall& call, const Plan& plan);
  [[nodiscard]] bool is_same(const CollectiveCall& call, const Prepared& before) const;
  void remember(const CollectiveCall& call, const Plan& plan);

  PrivateComm& comm_;
  CollectivePlanner planner_;
  std::vector<Bytes> sizes_;  ///< of the current call
  ElementLayout layout_;      ///< of the current reduction
  OperationCache operations_;
  std::vector<TypeInfo> send_infos_;
  std::vector<TypeInfo> receive_infos_;
  std::array<Prepared, 8> prepared_;
  std::size_t next_prepared_ = 0;
};

}  // namespace tutti
