/// The commands rma_bcast, rma_scatter, rma_gather and rma_reduce.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Collectives on windows that the root alone calls, by each algorithm, beside the MPI's matched
/// one (native), which all ranks call: from the root's call until the last rank has its data and
/// the root knows. All other ranks sleep and look whether the operation has arrived, without a call
/// of the MPI. Then what an idle background thread costs, and a level of the tree. Collective.
[[nodiscard]] Result<bool> run_rma(const Bench& bench, Rank root, Report* report);

}  // namespace tutti::bench
