/// Measures the model's parameters of messages.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// The machine that TUTTI_MACHINE names at rank 0, on all ranks; measured if it is unset. If the
/// measurement fails, standard error has the reason, and the result is the built-in machine. An
/// error if the named file is invalid. Collective.
[[nodiscard]] Result<Machine> machine_of(const Job& job);

/// Measures latency, time per byte and overhead between the first and the last rank, and the gap
/// between messages that reach the first rank from all others. With oversubscribed cores only the
/// last rank sends for the gap, which would otherwise measure the scheduler. Idle ranks sleep. With
/// a single rank the result is the default. An error if the measurements contradict each other (see
/// machine_samples.hpp). The result is equal on all ranks. Collective.
[[nodiscard]] Result<Machine> measure_machine(const Job& job);

}  // namespace tutti::bench
