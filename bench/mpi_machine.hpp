/// Measures the model's parameters of messages, of nodes and of notifications.
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

/// Sets `polling`, and `serving` if puts wait for the same thread: the time of a one-sided
/// broadcast of 8 bytes from the first to the last rank, minus that of two messages; the median of
/// 50 broadcasts, 1 ms apart. `machine`, the result of measure_machine, stays unchanged with a
/// single rank, or if one-sided collectives cannot run. The result is equal on all ranks.
/// Collective.
void measure_polling(const Job& job, Machine& machine);

/// Measures the parameters of nodes while all ranks take part, as in a collective: with more ranks
/// than cores the times include the scheduler. Completes `machine`, the result of measure_machine.
/// The results are medians of the slowest rank's times. Values that need several nodes, or several
/// ranks on a node, stay those of `machine` where there are none. An error if a number is out of
/// range for machines, or if messages take too long for the memory of a node. The result is equal
/// on all ranks. Collective.
///  - signal: a barrier through node memory alone, divided by the ranks of the node plus 1;
///  - local_latency: a round of a dissemination barrier by messages on one node;
///  - node_gap: the extra time of an exchange between nodes for each further rank of a node in it;
///  - copy_per_byte, shared_per_byte: one rank copies, all ranks of a node copy;
///  - combine_per_byte: MPI_Reduce_local of doubles by one rank.
[[nodiscard]] Result<Machine> measure_node_machine(const Job& job, const Machine& machine);

}  // namespace tutti::bench
