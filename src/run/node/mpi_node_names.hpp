/// Which ranks seem to share a node, for whoever only wants to know.
#pragma once

#include "core/nodes.hpp"
#include "run/node/mpi_node.hpp"

namespace tutti {

/// Sets `nodes` to what the ranks' systems say of themselves: the name of the host, its boot, the
/// processes' own name spaces; emulated nodes part them further. Makes no memory and no
/// communicator. SharedNode::open, which does, may find that fewer ranks can share. Collective: one
/// allgather of a number each, the same result on all ranks. Returns an MPI error code.
int guess_nodes(MPI_Comm comm, const NodeSettings& settings, Nodes& nodes);

}  // namespace tutti
