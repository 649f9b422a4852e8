/// Guesses which ranks share a node, without opening memory.
#pragma once

#include "core/nodes.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

/// Sets `nodes` by host name, boot and name spaces of the processes, split further by emulated
/// nodes. Creates no memory and no communicator, so SharedNode::open may find that fewer ranks can
/// share. Collective: one allgather of a number per rank. The result is equal on all ranks. Returns
/// an MPI error code.
int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes);

}  // namespace tutti
