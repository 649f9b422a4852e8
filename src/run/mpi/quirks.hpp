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

/// The MPI makes communicators by nonblocking collectives on the one that they are made of, and
/// waits for ever where ranks have begun different numbers of those: Open MPI.
[[nodiscard]] bool makes_communicators_nonblocking();

}  // namespace tutti
