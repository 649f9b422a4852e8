/// Brings the summaries of all ranks together.
#pragma once

#include <functional>
#include <optional>

#include "report/summary.hpp"
#include "run/mpi_functions.hpp"

namespace tutti {

/// Where the processes of MPI_COMM_WORLD run.
struct WorldPlace {
  Node node = 0;           ///< alike for ranks whose times are on one clock
  bool is_leader = false;  ///< one of each node is
  ClockDrift clock;
};

/// Compares the clocks of all processes, on a communicator of all of them, for the first time: the
/// second is at `collect`. Collective. Without it clocks are taken not to drift.
void note_clocks(MPI_Comm comm);

/// Joins what the ranks of MPI_COMM_WORLD have, in ceil(log2 p) rounds. `make` gives this rank's
/// own once its node is known. Collective. Rank 0 gets the whole, without what the MPI failed to
/// deliver; all others get nothing.
[[nodiscard]] std::optional<Summary> collect(const std::function<Summary(WorldPlace)>& make);

}  // namespace tutti
