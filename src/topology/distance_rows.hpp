/// Assigns the rows of measured distances to a communicator's ranks.
#pragma once

#include <string>
#include <vector>

#include "topology/distance_file.hpp"

namespace tutti {

/// The location of a rank.
struct RankLocation {
  std::string node;      ///< host name
  Rank world = no_rank;  ///< rank in MPI_COMM_WORLD; no_rank: not in it
};

/// Are these distinct ranks of one MPI_COMM_WORLD of `world` ranks? Spawned processes have a world
/// of their own, whose ranks may be beyond or equal to those of the others.
[[nodiscard]] bool are_of_one_world(const std::vector<RankLocation>& ranks, int world);

/// Finds for each rank the row and column of the file's matrices that describe it; `ranks` has the
/// ranks' locations, `world` is the size of MPI_COMM_WORLD. Local. If the file has as many ranks as
/// the world, all ranks are of that world, and the file's node names, if any, are theirs, a rank's
/// row is its rank in the world. Otherwise the ranks of a node, by rank in the world, get the
/// node's rows in sequence. So a file serves any communicator of the job in which it was measured,
/// and other jobs on the same nodes with at most as many ranks on each. The error names the first
/// rank without a row, in the sequence of the world; if the file has no node names, the two numbers
/// of ranks.
[[nodiscard]] Result<std::vector<int>> rows_for(const DistanceFile& file,
                                                const std::vector<RankLocation>& ranks, int world);

/// The distances between the ranks of a communicator: rank i has row `rows[i]` of `file`.
[[nodiscard]] DistanceFile with_rows(const DistanceFile& file, const std::vector<int>& rows);

/// The same distances with rows by rank in the world, if `ranks`, whose they are, are those of the
/// whole world: a reader of as many rows as the world has ranks expects that.
[[nodiscard]] DistanceFile in_world_order(const DistanceFile& file,
                                          const std::vector<RankLocation>& ranks, int world);

}  // namespace tutti
