/// Running the collectives that are no gathers and scatters over a private communicator.
#pragma once

#include <array>
#include <vector>

#include "run/call/mpi_call.hpp"
#include "run/call/mpi_reduction.hpp"
#include "run/plan/collective.hpp"

namespace tutti {

class PrivateComm;

/// Plans of one communicator, and the calls that run them.
class CollectiveCalls {
 public:
  explicit CollectiveCalls(PrivateComm& comm) : comm_(comm) {}

  /// Looks up the datatypes that are significant at this rank, and the operation. False if one is
  /// not valid, or the one not for the other; no
  /// communicator of the program hears of the error. What it finds lasts until the next call.
  [[nodiscard]] bool learn_types(CollectiveCall& call);

  /// Runs a call that differs from an earlier one in nothing but its addresses, if there was one
  /// lately and its plan follows from its arguments alone: the short way for small blocks. Sets
  /// `error` to an MPI error code.
  [[nodiscard]] bool repeat(CollectiveCall& call, const Specification& specification, int& error);

  /// Would each rank stage no more than it may in such a call? Alike on all ranks. The MPI's own
  /// runs where it would.
  [[nodiscard]] bool fits(const CollectiveCall& call, const Specification& specification);
  /// Runs a call with valid arguments and known types that fits. Returns an MPI error code.
  int run(const CollectiveCall& call, const Specification& specification,
          const CallContext& context);

  /// Takes part for the others' sake in a call whose arguments are bad at this rank, with zeros for
  /// data, where one side tells what all ranks need to know.
  void take_part_as_dummy(const CollectiveCall& call, const Specification& specification,
                          const CallContext& context);

 private:
  struct Prepared {
    CollectiveCall call;
    const Plan* plan = nullptr;
    unsigned generation = 0;  ///< of the plans
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
  ElementLayout layout_;      ///< of the current call, where it reduces
  OperationCache operations_;
  std::vector<TypeInfo> send_infos_;
  std::vector<TypeInfo> receive_infos_;
  std::array<Prepared, 8> prepared_;
  std::size_t next_prepared_ = 0;
};

}  // namespace tutti
