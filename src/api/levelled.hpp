/// Calls of the C API that go through the memory of nodes.
#pragma once

#include "api/rooted_call.hpp"

namespace tutti {

/// The call's arguments are bad at this rank, which has done what the others needed of it: the
/// program's MPI shall name the error.
inline constexpr int levelled_natively = -1;

/// Runs a call through nodes as decided. Sets `refused`, alike on all ranks, where it must stay
/// flat. Returns an MPI error code or `levelled_natively`.
int run_levelled(RootedCall& call, Communicator& communicator, const Decision& decision,
                 bool& refused);

}  // namespace tutti
