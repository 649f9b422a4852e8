/// The command rma_bcast.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Broadcasts into windows that the root alone calls, by each algorithm, beside the MPI's MPI_Bcast
/// (native), which all ranks call: from the root's call until the last rank has the data, called
/// and noticed. All other ranks sleep and look whether the data have come, without a call of the
/// MPI. Then what an idle background thread costs. Collective.
[[nodiscard]] Result<bool> run_rma(const Bench& bench, Rank root, Report* report);

}  // namespace tutti::bench
