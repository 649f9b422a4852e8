/// Deviations of some MPI libraries, recognized by their versions.
#pragma once

#include <string>

namespace tutti {

/// The version text of the loaded MPI.
[[nodiscard]] const std::string& library_version();
/// The first line of that.
[[nodiscard]] std::string library_name();

/// A message sent as packed bytes cannot be received with a datatype that has gaps: it is truncated
/// if a fragment of it ends within an element. MPICH with ch4: before 4.2 over UCX (pmodels/mpich
/// pull request 6796), in 5.0 still between ranks of one node.
[[nodiscard]] bool typed_receives_truncate();

/// MPI_ERRORS_RETURN of the standard ABI acts as MPI_ERRORS_ABORT: Intel MPI 2021. There an error
/// handler of Tutti's own returns errors; in MPICH 5, failed calls would then return MPI_SUCCESS.
[[nodiscard]] bool has_other_errors_return();

/// MPI_Finalize removes the MPI's locks before it deletes the attributes of MPI_COMM_SELF, where a
/// library can stop its threads. A thread that is inside the MPI then breaks it. MPICH and its
/// derivatives.
[[nodiscard]] bool ends_locks_before_attributes();

/// The MPI makes a communicator by nonblocking collectives on its parent, and waits for ever if
/// ranks have begun different numbers of those: Open MPI.
[[nodiscard]] bool makes_communicators_nonblocking();

}  // namespace tutti
