/// The locations of a communicator's ranks.
#pragma once

#include <vector>

#include "run/mpi/functions.hpp"
#include "topology/distance_rows.hpp"

namespace tutti {

/// Sets `locations` at rank 0 to the host and the world's rank of each rank, and `world` to the
/// number of ranks in MPI_COMM_WORLD, 0 if there is none. Collective. Returns an MPI error code.
int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world);

}  // namespace tutti
