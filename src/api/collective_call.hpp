/// Calls of collectives that are no gathers and scatters, as the C API takes them.
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
/// The same of MPI_Alltoallw.
[[nodiscard]] inline CallSide side(const void* address, const RankBlocks& blocks,
                                   const MPI_Datatype types[]) {
  return {const_cast<void*>(address), blocks, mpi().type_null, types, {}, nullptr};
}

/// Could any MPI run this? Whatever is wrong here is left to the program's MPI to name. Reads no
/// argument that is not significant at this rank.
[[nodiscard]] bool looks_valid(const CollectiveCall& call, const Communicator& communicator);

/// The bytes of a call's block (see HierarchicalFeatures::block) where MPI makes them equal on all
/// ranks; none where it does not, and where this rank's arguments are bad. O(1), irregular ones
/// O(p).
[[nodiscard]] std::optional<Bytes> common_block(const CollectiveCall& call,
                                                const Communicator& communicator);

/// Bytes of all blocks that this rank sends; 0 where its arguments are bad. O(p).
[[nodiscard]] Bytes block_bytes(const CollectiveCall& call, const Communicator& communicator);

/// Fills in what the arguments tell of a call, for the report; rank and p are there.
void describe(const CollectiveCall& call, CallRecord& record);

/// Runs a specification. Sets `is_native` instead where the arguments are not valid: they are the
/// MPI's to name. Collective, whatever the arguments of this rank are. Returns an MPI error code.
int run_specification(CollectiveCall& call, Communicator& communicator,
                      const Specification& specification, const ArrivedCall& arrived,
                      bool& is_native);

/// Runs a call through the memory of nodes (see api/hierarchical.hpp).
int run_hierarchical(CollectiveCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native);

/// Calls that no decision by arrivals is about do not count among those that edges tell of.
[[nodiscard]] inline bool goes_by_arrivals(const Decision& decision) {
  const auto& specification = decision.specification;
  return specification &&
         (specification->needs_arrivals() || specification->runner == Runner::background);
}

/// Runs what was decided on a call whose record has begun.
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
int run_collective(CollectiveCall& call, Communicator& communicator, const Arrived& noted,
                   Native run_native) {
  return run_decided(call, communicator, communicator.decide(call.collective),
                     begin_record(communicator, noted), run_native);
}

/// One call, from the program to whoever runs it.
template <class Native>
int collective(CollectiveCall& call, Native run_native) {
  return enter(call.collective, call.comm, run_native,
               [&](Communicator& communicator, const Arrived& noted) {
                 return run_collective(call, communicator, noted, run_native);
               });
}

/// A large-count call on an MPI without that form: the linear algorithm, on all ranks alike.
int run_without_large_form(CollectiveCall& call);

/// The MPI's own large-count function, or what stands for it.
template <class Function, class... Arguments>
int run_native_large(Function MpiFunctions::*function, CollectiveCall& call,
                     Arguments... arguments) {
  if (mpi().*function != nullptr) return (mpi().*function)(arguments...);
  return run_without_large_form(call);
}

}  // namespace tutti
