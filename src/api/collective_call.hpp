/// Calls of all collectives but gathers and scatters, as the C API takes them.
#pragma once

#include "api/arrived_call.hpp"
#include "api/entry.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

/// One side of a call as MPI's arguments give it.
[[nodiscard]] inline CallSide side(const void* address, const RankBlocks& blocks,
                                   MPI_Datatype type) {
  return {const_cast<void*>(address), blocks, type, nullptr, {}, nullptr};
}
/// The same for MPI_Alltoallw.
[[nodiscard]] inline CallSide side(const void* address, const RankBlocks& blocks,
                                   const MPI_Datatype types[]) {
  return {const_cast<void*>(address), blocks, mpi().type_null, types, {}, nullptr};
}

/// True if an MPI could run this call. If not, the MPI runs it and names the
/// error. Reads no argument that is not significant at this rank.
[[nodiscard]] bool looks_valid(const CollectiveCall& call, const Communicator& communicator);

/// The bytes of a call's block (see flat_seconds) if MPI makes them equal on all
/// ranks; none if it does not, or if this rank's arguments are invalid. O(1), irregular collectives
/// O(p).
[[nodiscard]] std::optional<Bytes> common_block(const CollectiveCall& call,
                                                const Communicator& communicator);

/// May `auto` explore the call? A reduction only if its result does not depend on how it is
/// associated (see is_order_free), unless the user asked for a hierarchical one, and never with
/// parts of vectors for an operation that gets whole ones.
[[nodiscard]] bool may_explore(const CollectiveCall& call, const Decision& decision,
                               const Communicator& communicator);

/// Bytes of all blocks that this rank sends; 0 if its arguments are invalid. O(p).
[[nodiscard]] Bytes block_bytes(const CollectiveCall& call, const Communicator& communicator);

/// Fills in a call's root and sizes, for the report; rank and p are already set.
void describe(const CollectiveCall& call, CallRecord& record);

/// Runs a specification. Sets `is_native` instead if the arguments are invalid, so that the MPI
/// names the error. Collective, whatever the arguments of this rank are. Returns an MPI error code.
int run_specification(CollectiveCall& call, Communicator& communicator,
                      const Specification& specification, const ArrivedCall& arrived,
                      bool& is_native);

/// Runs a hierarchical call (see api/hierarchical.hpp).
int run_hierarchical(CollectiveCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native);

/// True if the decision uses arrivals or the background thread. Progress hints count only such
/// calls.
[[nodiscard]] inline bool goes_by_arrivals(const Decision& decision) {
  const auto& specification = decision.specification;
  return specification &&
         (specification->needs_arrivals() || specification->runner == Runner::background);
}

/// Runs a decision on a call whose record has begun.
template <class Native>
int run_decided(CollectiveCall& call, Communicator& communicator, const Decision& usual,
                const CallRecord& begun, Native run_native) {
  int failed = MPI_SUCCESS;
  const Decision& decision = resolved(usual, call, communicator, failed);
  if (failed != MPI_SUCCESS) return raise(call.comm, failed);
  const HierarchicalRunner::Turn turn(nodes_of(decision, communicator));
  const bool by_arrivals = goes_by_arrivals(decision);
  if (by_arrivals) {
    if (const int error = learn_arrivals(communicator, decision)) return raise(call.comm, error);
  }
  const ArrivedCall arrived(by_arrivals ? communicator.arrival().get() : nullptr, call.collective,
                            begun.site);
  const auto run = [&]() -> int {
    bool is_native = false;
    if (decision.level.hierarchical) {
      std::string refused;
      std::shared_ptr<const ArrivalEpoch> epoch;
      int error = arrived.find_epoch_between(decision, epoch);
      if (error != MPI_SUCCESS) return raise(call.comm, error);
      error = run_hierarchical(call, communicator, decision, epoch.get(), refused, is_native);
      if (refused.empty()) return is_native ? run_native() : raise_if(call.comm, error);
      communicator.note_refusal(call.collective, decision, refused);
      if (decision.is_by_rule) return run_native();
    }
    if (!decision.specification) return run_native();
    const int error =
        run_specification(call, communicator, *decision.specification, arrived, is_native);
    return is_native ? run_native() : raise_if(call.comm, error);
  };
  return reported(call.collective, communicator, decision, begun, run,
                  [&](CallRecord& record) { describe(call, record); });
}

template <class Native>
int run_collective(CollectiveCall& call, Communicator& communicator, const Arrived& entered,
                   Native run_native) {
  return run_decided(call, communicator, communicator.decide(call.collective),
                     begin_record(communicator, entered), run_native);
}

/// One call of the program: runs Tutti's algorithm or `run_native`.
template <class Native>
int collective(CollectiveCall& call, Native run_native) {
  return enter(call.collective, call.comm, run_native,
               [&](Communicator& communicator, const Arrived& entered) {
                 return run_collective(call, communicator, entered, run_native);
               });
}

/// Runs a large-count call on an MPI without that form, by the linear algorithm on all ranks.
int run_without_large_form(CollectiveCall& call);

/// Calls the MPI's own large-count function, or run_without_large_form().
template <class Function, class... Arguments>
int run_native_large(Function large::Functions::*function, CollectiveCall& call,
                     Arguments... arguments) {
  if (mpi().*function != nullptr) return (mpi().*function)(arguments...);
  return run_without_large_form(call);
}

}  // namespace tutti
