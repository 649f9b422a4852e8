/// Agreement of all ranks of a communicator.
#pragma once

#include "run/mpi_functions.hpp"

namespace tutti {

/// Sets `all` to whether `mine` is true on every rank. Collective. Returns an MPI error code.
int true_on_all(MPI_Comm comm, bool mine, bool& all);

}  // namespace tutti
