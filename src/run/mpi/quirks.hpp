/// What some MPI libraries do wrong, told by their versions.
#pragma once

#include <string>

namespace tutti {

/// What the loaded MPI says of itself.
[[nodiscard]] std::string library_version();
/// The first line of that.
[[nodiscard]] std::string library_name();

/// A message that was sent as packed bytes cannot be received with a datatype that has gaps: it
/// is truncated where a fragment of it ends within an element. MPICH with ch4: before 4.2 over UCX
/// (pmodels/mpich pull request 6796), in 5.0 still between ranks of one node.
[[nodiscard]] bool typed_receives_truncate();

/// The value that the standard ABI gives to MPI_ERRORS_RETURN stands for MPI_ERRORS_ABORT: Intel
/// MPI 2021. A handler of one's own returns errors there; in MPICH 5 calls that fail then return
/// MPI_SUCCESS.
[[nodiscard]] bool has_other_errors_return();

/// The MPI's own collectives wait in a loop that never gives up the core: MPICH, but for MPICH 5
/// with MPIR_CVAR_CH4_PROGRESS_THROTTLE and at most 100 looks before it sleeps. A call with more
/// ranks than cores then takes slices of the scheduler.
[[nodiscard]] bool waits_without_yielding();

/// MPI_Finalize takes the MPI's locks away before it deletes the attributes of MPI_COMM_SELF, which
/// is where a library can stop its threads: one that is inside the MPI then breaks it. MPICH and
/// what derives from it.
[[nodiscard]] bool ends_locks_before_attributes();

/// Processors of this node that its ranks may run on, as far as this process can tell when it asks
/// first (see processors_of_launch).
[[nodiscard]] int cores_of_node();
/// Ranks to each of them; 0 where the launcher does not tell.
[[nodiscard]] double ranks_to_a_core();

/// The ranks on this node outnumber its cores, as far as the launcher tells.
[[nodiscard]] bool ranks_outnumber_cores();

/// The node has at least as many cores as ranks. False where the launcher does not tell.
[[nodiscard]] bool each_rank_has_a_core();

}  // namespace tutti
