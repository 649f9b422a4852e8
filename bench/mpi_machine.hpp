/// Measuring the numbers by which time is modelled.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

/// What TUTTI_MACHINE names at rank 0, on all ranks; measured if it is not set, or "built-in".
/// Where that makes no sense, standard error is told so and the built-in one is taken. Collective.
[[nodiscard]] Result<Machine> machine_of(const Job& job);

/// Latency, time for each byte and overhead between the first and the last rank, and the gap of
/// messages that reach the first rank from all others (from the last alone where ranks outnumber
/// cores, as the gap would then be that of the scheduler). The other ranks sleep. Needs
/// two ranks; with one, the defaults. An error where the measurement contradicts itself (see
/// machine_samples.hpp). The same result on all ranks. Collective.
[[nodiscard]] Result<Machine> measure_machine(const Job& job);

}  // namespace tutti::bench
