/// Runs calls of the C API through node memory.
#pragma once

#include <string>

#include "api/communicator.hpp"

namespace tutti {

/// Runs a hierarchical call as selected. If the selection asks for it, the order between nodes is
/// that of arrival by `epoch`, if known, or of distance. If the call must stay flat, sets `refused`
/// to the reason, equally on all ranks. Sets `is_native` if this rank's arguments are invalid: it
/// has taken part as a dummy, and the program's MPI reports the error. Returns an MPI error code.
int run_hierarchical(MpiCall& call, Communicator& communicator, const Decision& decision,
                     const ArrivalEpoch* epoch, std::string& refused, bool& is_native);

}  // namespace tutti
