/// Measures messages, copies and signals among the ranks of a node.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"

namespace tutti::bench {

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
