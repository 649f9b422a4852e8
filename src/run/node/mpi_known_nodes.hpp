/// Keeps the nodes of MPI_COMM_WORLD for all communicators of its ranks.
#pragma once

#include <vector>

#include "run/node/mpi_node.hpp"

namespace tutti {

/// A label for each rank of `comm`, equal for ranks that share a node under these settings. Empty
/// if this process does not know the nodes. Sets `kind` to the kind of segment that the ranks of
/// this node can share. Local, O(p).
[[nodiscard]] std::vector<int> known_labels(MPI_Comm comm, const NodeSettings& settings,
                                            NodeSegment::Kind& kind);

/// Keeps the nodes of a communicator that contains all ranks of the world; ignores any other.
/// Local.
void note_nodes(MPI_Comm comm, const NodeSettings& settings, const Nodes& nodes,
                NodeSegment::Kind kind);

}  // namespace tutti
