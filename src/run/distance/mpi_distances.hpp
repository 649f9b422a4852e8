/// Measures the distances between ranks, and finds their locations.
#pragma once

#include "run/distance/mpi_ping_pong.hpp"
#include "run/mpi/functions.hpp"
#include "topology/distance_file.hpp"
#include "topology/distance_rows.hpp"

namespace tutti {

/// Measures half the shortest round trip of each pair that `hierarchy_to_measure` selects, one pair
/// at a time (see chains_to_measure); pairs pass the turn on, and waiting ranks sleep. Beyond 64
/// ranks `nodes_per_switch` is the number of consecutive nodes at each switch; 0: unknown. Sets
/// `distances` at rank 0, with the method and its duration, by rank in the world if it has the
/// whole world. `comm` must be Tutti's own. Collective. Returns an MPI error code.
int measure_distances(MPI_Comm comm, int nodes_per_switch, DistanceFile& distances);

/// Sets `locations` at rank 0 to the host and the world's rank of each rank, and `world` to the
/// number of ranks in MPI_COMM_WORLD, 0 if there is none. Collective. Returns an MPI error code.
int gather_locations(MPI_Comm comm, std::vector<RankLocation>& locations, int& world);

}  // namespace tutti
