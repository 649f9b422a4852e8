/// The nodes of the ranks of MPI_COMM_WORLD, for all communicators made of these.
#pragma once

#include <vector>

#include "run/node/mpi_node.hpp"

namespace tutti {

/// A label for each rank of `comm`, equal where ranks share a node by these settings; empty where
/// that is not known to this process. Sets `kind` to what the ranks of this node can share. Local,
/// O(p).
[[nodiscard]] std::vector<int> known_labels(MPI_Comm comm, const NodeSettings& settings,
                                            NodeSegment::Kind& kind);

/// Keeps the nodes of a communicator of all ranks of the world; others are passed over. Local.
void note_nodes(MPI_Comm comm, const NodeSettings& settings, const Nodes& nodes,
                NodeSegment::Kind kind);

}  // namespace tutti
