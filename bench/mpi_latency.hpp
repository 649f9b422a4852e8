/// The command latency.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Measures the overhead of calls through Tutti. First calls that Tutti forwards to the MPI, on
/// MPI_COMM_SELF: through TUTTI_Gatherv, and through MPI_Gatherv if Tutti is preloaded. Then, with
/// 2 ranks or more, collectives of 8 bytes. Collective.
void run_latency(const Bench& bench, Report* report);

}  // namespace tutti::bench
