/// Arguments of the gather_scatter collectives, as the C API takes them.
#pragma once

#include "api/communicator.hpp"
#include "api/report.hpp"
#include "run/call/mpi_call.hpp"

namespace tutti {

struct BlockBuffer {
  void* address;
  MPI_Count count;
  MPI_Datatype type;
};

struct RootBuffer {
  void* address;
  RankBlocks blocks;
  MPI_Datatype type;
};

[[nodiscard]] inline GatherScatterCall call_of(Collective collective, const BlockBuffer& own,
                                               const RootBuffer& all, int root, MPI_Comm comm) {
  return {collective, root,        comm,       own.address, own.count,
          own.type,   all.address, all.blocks, all.type};
}

[[nodiscard]] inline void* buffer(const void* address) { return const_cast<void*>(address); }

/// Could any MPI run this? Whatever is wrong here is left to the program's MPI to name. Reads no
/// argument that is not significant at this rank.
[[nodiscard]] bool looks_valid(const GatherScatterCall& call, const Communicator& communicator);

/// The bytes of a call's block where MPI makes them equal on all ranks; none where it does not, and
/// where this rank's arguments are bad.
[[nodiscard]] std::optional<Bytes> common_block(const GatherScatterCall& call,
                                                const Communicator& communicator);

/// Bytes of this rank's block; 0 where its arguments are bad.
[[nodiscard]] Bytes block_bytes(const GatherScatterCall& call, const Communicator& communicator);

/// Fills in what the arguments tell of a call, for the report; rank and p are there.
void describe(const GatherScatterCall& call, CallRecord& record);

/// A large-count call on an MPI without that form: the linear algorithm, on all ranks alike.
int run_without_large_form(GatherScatterCall& call);

/// The MPI's own large-count function, or what stands for it.
template <class Function, class... Arguments>
int run_native_large(Function MpiFunctions::*function, GatherScatterCall& call,
                     Arguments... arguments) {
  if (mpi().*function != nullptr) return (mpi().*function)(arguments...);
  return run_without_large_form(call);
}

}  // namespace tutti
