/// The command memory.
#pragma once

#include "bench/mpi_measure.hpp"
#include "bench/report.hpp"

namespace tutti::bench {

/// What a rank takes at most, beside the program's buffers, in one call of each algorithm, and what
/// the list allows it to. Buffers are touched before. Collective.
[[nodiscard]] Result<bool> run_memory(const Bench& bench, Report* report);

}  // namespace tutti::bench
