/// Measures the time that a notification waits for the polling thread.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// Sets `polling`, and `serving` if puts wait for the same thread: the time of a one-sided
/// broadcast of 8 bytes from the first to the last rank, minus that of two messages; the median of
/// 50 broadcasts, 1 ms apart. `machine`, the result of measure_machine, stays unchanged with a
/// single rank, or if one-sided collectives cannot run. The result is equal on all ranks.
/// Collective.
void measure_polling(const Job& job, Machine& machine);

}  // namespace tutti::bench
