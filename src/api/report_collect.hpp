/// Collects the summaries of all ranks.
#pragma once

#include <functional>
#include <optional>

#include "report/summary.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Compares the clocks of all processes for the first time; `collect` does so again. `comm` must
/// have all processes. Collective. Without this call clocks are assumed not to drift.
void note_clocks(MPI_Comm comm);

/// Joins the summaries of the ranks of MPI_COMM_WORLD, in ceil(log2 p) rounds. `make` gives this
/// rank's own at its location. Collective. Rank 0 gets the whole, without what the MPI failed to
/// deliver; all others get nothing.
[[nodiscard]] std::optional<Summary> collect(
    const std::function<Summary(const ProcessLocation&)>& make);

}  // namespace tutti
