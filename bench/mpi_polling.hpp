/// Measuring what a notification waits for the thread that looks for it.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// Sets `polling`, and `serving` where puts wait for the same thread: what a one-sided broadcast of
/// 8 bytes from the first to the last rank takes beyond two messages; the median of 50, a
/// millisecond apart. As it is with one rank, or where one-sided collectives cannot run. The same
/// on all ranks. Collective; `machine` is what measure_machine has found.
void measure_polling(const Job& job, Machine& machine);

}  // namespace tutti::bench
