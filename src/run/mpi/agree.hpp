/// Agreement of all ranks of a communicator.
#pragma once

#include <array>

#include "protocols/exploration.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

// All are collective, through rank 0, and return an MPI error code.

/// Sets `all` to whether `mine` is true on every rank.
int true_on_all(MPI_Comm comm, bool mine, bool& all);
/// Sets `sum` to the sum of `mine` over the ranks.
int sum_on_all(MPI_Comm comm, Bytes mine, Bytes& sum);
/// Sets each of `values` to its maximum over the ranks.
int max_on_all(MPI_Comm comm, std::array<Bytes, 2>& values);
/// Sets `outcome` to the result of an exploration on all ranks, after a round or at its end.
int outcome_on_all(MPI_Comm comm, const Exploration& exploration, ExplorationOutcome& outcome);

}  // namespace tutti
