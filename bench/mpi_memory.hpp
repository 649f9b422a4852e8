/// The command memory.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// Measures the peak memory of a rank in one call of each algorithm, without the program's buffers,
/// and prints it beside the bound of the list. Buffers are touched before. Collective.
[[nodiscard]] Result<bool> run_memory(const Bench& bench, Report* report);

}  // namespace tutti::bench
