/// The command latency.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// What a call through Tutti costs beyond the MPI's own: forwarding a call that Tutti leaves to
/// the MPI (on MPI_COMM_SELF; through TUTTI_Gatherv, and through MPI_Gatherv where the drop-in
/// library is preloaded), and with two ranks or more a gather of 8 bytes by the same algorithms.
/// Collective.
void run_latency(const Bench& bench, Report* report);

}  // namespace tutti::bench
