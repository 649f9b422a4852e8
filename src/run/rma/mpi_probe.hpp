/// Does the MPI move puts by itself?
#pragma once

#include "run/mpi/functions.hpp"

namespace tutti {

/// Sets `progresses` if a put into a rank arrives while that one computes outside the MPI, as rank
/// 0 sees it of the last rank; false with one rank. Takes 20 ms at most. Returns an MPI error code.
/// Collective.
int probe_rma_progress(MPI_Comm comm, bool& progresses);

}  // namespace tutti
