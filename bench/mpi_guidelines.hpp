/// The command guidelines.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Measures both sides of the guidelines (Träff 2017, section 4) for the MPI library and for
/// Tutti, on the same data in the same run: (1) Gather <= Gatherv for equal blocks, (2) Gatherv
/// <= Allreduce(1) + Gather with all blocks padded to the largest. Prints the paper's table, with a
/// "!" after a median that significantly breaks its guideline (95 % interval of the ratio of
/// medians above 1), and then each such case. Collective.
[[nodiscard]] Result<bool> run_guidelines(const Bench& bench, Rank root, Report* report);

}  // namespace tutti::bench
