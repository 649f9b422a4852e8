/// Guesses which ranks share a node, without opening memory.
#pragma once

#include "core/nodes.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

/// Sets `nodes` to those of a communicator's ranks, by host name and boot, and emulated ones.
/// Creates no memory, so SharedNode::open may find that fewer ranks can share. Notes how many ranks
/// share processors if `comm` has all processes of the world. Collective: one allgather of 56 bytes
/// per rank. The result is equal on all ranks. Returns an MPI error code.
int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes);

}  // namespace tutti
