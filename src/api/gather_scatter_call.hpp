/// Arguments of gathers and scatters, as the C API takes them.
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

[[nodiscard]] inline GatherScatterCall call_of(Collective collective, const BlockBuffer& block,
                                               const RootBuffer& whole, int root, MPI_Comm comm) {
  return {collective, root,          comm,         block.address, block.count,
          block.type, whole.address, whole.blocks, whole.type};
}

[[nodiscard]] inline void* buffer(const void* address) { return const_cast<void*>(address); }

/// True if an MPI could run this call. If not, the MPI runs it and names the
/// error. Reads no argument that is not significant at this rank.
[[nodiscard]] bool looks_valid(const GatherScatterCall& call, const Communicator& communicator);

/// The bytes of a call's block if MPI makes them equal on all ranks; none if it does not, or if
/// this rank's arguments are invalid.
[[nodiscard]] std::optional<Bytes> common_block(const GatherScatterCall& call,
                                                const Communicator& communicator);

/// May `auto` explore the call? Any candidate gives the same result.
[[nodiscard]] constexpr bool may_explore(const GatherScatterCall&, const Decision&,
                                         const Communicator&) {
  return true;
}

/// Bytes of this rank's block; 0 if its arguments are invalid.
[[nodiscard]] Bytes block_bytes(const GatherScatterCall& call, const Communicator& communicator);

/// Fills in a call's root and sizes, for the report; rank and p are already set.
void describe(const GatherScatterCall& call, CallRecord& record);

/// Runs a large-count call on an MPI without that form, by the linear algorithm on all ranks.
int run_without_large_form(GatherScatterCall& call);

/// Calls the MPI's own large-count function, or run_without_large_form().
template <class Function, class... Arguments>
int run_native_large(Function large::Functions::*function, GatherScatterCall& call,
                     Arguments... arguments) {
  if (mpi().*function != nullptr) return (mpi().*function)(arguments...);
  return run_without_large_form(call);
}

}  // namespace tutti
