/// Which rows of measured distances are those of a communicator's ranks.
#pragma once

#include <string>
#include <vector>

#include "topology/distance_file.hpp"

namespace tutti {

/// Where a rank is.
struct RankLocation {
  std::string node;      ///< by its host's name
  Rank world = no_rank;  ///< in MPI_COMM_WORLD; no_rank where it is in none
};

/// The row of each rank. Where the file is of as many ranks as the world and its nodes are those
/// that the ranks are on, or it names none, a rank's row is its rank in the world; else rows and
/// ranks of a node belong together in sequence, those of the ranks by their rank in the world. So a
/// file serves any communicator of the job that it was measured in, and other jobs on the same
/// nodes with at most as many ranks on each. The error says which rank has no row.
[[nodiscard]] Result<std::vector<int>> rows_for(const DistanceFile& file,
                                                const std::vector<RankLocation>& ranks, int world);

/// The distances between ranks that have these rows: its row `rows[i]` is rank i.
[[nodiscard]] DistanceFile with_rows(const DistanceFile& file, const std::vector<int>& rows);

}  // namespace tutti
