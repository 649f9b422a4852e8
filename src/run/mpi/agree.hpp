/// Agreement of all ranks of a communicator.
#pragma once

#include <array>

#include "protocols/exploration.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

// All are collective, by way of rank 0, and return an MPI error code.

/// Sets `all` to whether `mine` is true on every rank.
int true_on_all(MPI_Comm comm, bool mine, bool& all);
/// Sets `sum` to that of what the ranks have.
int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum);
/// Sets each number of `most` to the largest that a rank has there.
int max_on_all(MPI_Comm comm, std::array<Bytes, 2>& most);
/// Sets `outcome` to what a exploration of all ranks, of which a turn or all is over, has shown.
int outcome_on_all(MPI_Comm comm, const Exploration& exploration, ExplorationOutcome& outcome);

}  // namespace tutti
