/// Brings the summaries of all ranks together.
#pragma once

#include <functional>
#include <optional>

#include "report/summary.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Compares the clocks of all processes, on a communicator of all of them, for the first time: the
/// second is at `collect`. Collective. Without it clocks are taken not to drift.
void note_clocks(MPI_Comm comm);

/// Joins what the ranks of MPI_COMM_WORLD have, in ceil(log2 p) rounds. `make` gives this rank's
/// own once its place is known. Collective. Rank 0 gets the whole, without what the MPI failed to
/// deliver; all others get nothing.
[[nodiscard]] std::optional<Summary> collect(
    const std::function<Summary(const ProcessLocation&)>& make);

}  // namespace tutti
