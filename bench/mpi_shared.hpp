/// The command allgather_shared: time and memory that shared results save.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Measures allgathers with private results, the MPI's and hierarchical, beside
/// TUTTI_Allgather_shared, read-only and copy-on-write. Times cover the call and a first use of the
/// result; memory is the increase while ranks hold it. `report` is null on all ranks but 0. An
/// error if memory cannot be measured. Collective.
[[nodiscard]] Result<bool> run_shared(const Bench& bench, Report* report);

}  // namespace tutti::bench
