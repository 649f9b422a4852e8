/// The command allgather_shared: what ranks of a node save where they share a result.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// An allgather by the MPI and through node memory, where each rank has its own copy of the result,
/// beside TUTTI_Allgather_shared, read only and copy on write. Times are those of the call and of a
/// first use of the result; memory is what the ranks have more of while they hold it. `report` is
/// null on all ranks but 0. The error says why memory cannot be measured. Collective.
[[nodiscard]] Result<bool> run_shared(const Bench& bench, Report* report);

}  // namespace tutti::bench
