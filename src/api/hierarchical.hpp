/// Calls of the C API that go through the memory of nodes.
#pragma once

#include "api/collective_call.hpp"
#include "api/gather_scatter_call.hpp"

namespace tutti {

/// Runs a call through nodes as decided, between them in the order of their arrival by `epoch`,
/// if that is known, or of their distance, where that is asked for. Sets `refused` to the reason,
/// alike on all ranks, where it must stay flat, and `is_native` where the arguments are bad at this
/// rank, which has done what the others needed of it: the program's MPI shall name the error.
/// Returns an MPI error code.
int run_hierarchical(GatherScatterCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native);
int run_hierarchical(CollectiveCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native);

}  // namespace tutti
