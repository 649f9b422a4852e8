/// Measuring what messages, copies and flags take among the ranks of a node.
#pragma once

#include "bench/mpi_job.hpp"
#include "cost/machine.hpp"
#include "cost/node_machine.hpp"

namespace tutti::bench {

/// The numbers of nodes in which all ranks take part, as they do in a collective: with more ranks
/// than cores they hold the scheduler's turns. `machine` is that of measure_machine. Medians of the
/// slowest rank's times; what needs several nodes, or several ranks on one, is taken from `machine`
/// or the defaults where there are none. An error where a number is none that a machine has, or
/// messages take too long for the memory of one node. The
/// same result on all ranks. Collective.
///  - flag: a barrier through node memory alone, on one node, for each rank's flag;
///  - local_latency: a round of a dissemination barrier by messages on one node;
///  - node_gap: what the same takes longer between nodes where all ranks of a node send at once;
///  - copy_per_byte, shared_per_byte: one rank copies, all ranks of a node copy;
///  - combine_per_byte: MPI_Reduce_local of doubles by one rank.
[[nodiscard]] Result<NodeMachine> measure_node_machine(const Job& job, const Machine& machine);

}  // namespace tutti::bench
