/// The command distances.
#pragma once

#include "bench/mpi_job.hpp"
#include "bench/options.hpp"
#include "core/result.hpp"

namespace tutti::bench {

/// Measures the distances between all ranks, writes them to the file of the options, and prints
/// the duration on rank 0. Collective. The error is the MPI's text.
[[nodiscard]] Result<bool> run_distances(const Job& job, const Options& options);

}  // namespace tutti::bench
