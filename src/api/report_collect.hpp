/// Brings the summaries of all ranks together.
#pragma once

#include <functional>
#include <optional>

#include "report/summary.hpp"

namespace tutti {

/// Where the processes of MPI_COMM_WORLD run.
struct WorldPlace {
  Node node = 0;           ///< alike for ranks of one node and no others
  bool is_leader = false;  ///< one of each node is
};

/// Joins what the ranks of MPI_COMM_WORLD have, in ceil(log2 p) rounds. `make` gives this rank's
/// own once its node is known. Collective. Rank 0 gets the whole, without what the MPI failed to
/// deliver; all others get nothing.
[[nodiscard]] std::optional<Summary> collect(const std::function<Summary(WorldPlace)>& make);

}  // namespace tutti
