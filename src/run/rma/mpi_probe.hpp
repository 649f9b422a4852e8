/// Tests whether the MPI moves puts by itself.
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Sets `progresses` to whether a put from rank 0 arrives at the last rank while that computes
/// outside the MPI; false with one rank. Takes 20 ms at most. Returns an MPI error code.
/// Collective.
int probe_rma_progress(MPI_Comm comm, bool& progresses);

}  // namespace tutti
