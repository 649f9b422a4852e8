/// Guesses which ranks share a node, without opening memory.
#pragma once

#include "core/nodes.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

/// The nodes of a communicator's ranks, and how many ranks share their processors.
struct NodeGuess {
  Nodes nodes;                  ///< by host name and boot, and emulated nodes
  double oversubscription = 0;  ///< ranks per processor of the fullest node
};

/// Creates no memory, so SharedNode::open may find that fewer ranks can share. Notes the
/// oversubscription if `comm` has all processes of the world. Collective: one allgather of 56 bytes
/// per rank. The result is equal on all ranks. Returns an MPI error code.
int guess_nodes(MPI_Comm comm, const NodeSettings& settings, NodeGuess& guess);

}  // namespace tutti
