/// Models the time of collectives on nodes whose ranks share an adapter: flat, and through node
/// memory.
#pragma once

#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "cost/node_machine.hpp"

namespace tutti {

/// Nodes of equal size with consecutive ranks.
struct NodeShape {
  int nodes = 1;
  int ranks = 1;  ///< of each node
  [[nodiscard]] int p() const { return nodes * ranks; }
};

/// The shape of a flat algorithm; not every collective has every shape.
enum class FlatShape : std::uint8_t {
  ring,       ///< p - 1 rounds to the neighbour; a reduction or broadcast of parts
  recursive,  ///< ceil(log2 p) rounds: doubling, halving, Bruck, binomial trees
  pairwise,   ///< p - 1 rounds, each rank with another one; all directly from or to a root
};
inline constexpr FlatShape flat_shapes[] = {FlatShape::ring, FlatShape::recursive,
                                            FlatShape::pairwise};
[[nodiscard]] std::string_view name_of(FlatShape shape);

// Times are in seconds, of calls that all ranks enter at once. `block` is the bytes of one block of
// the contract: of a rank, a pair, or the whole vector; the mean if blocks differ. All functions
// are closed forms and O(log p).

/// Does the collective have a flat algorithm of that shape? Rings serve vectors and unrooted
/// collectives but alltoalls, recursive shapes all but alltoallv, pairwise shapes all but vectors.
/// Barriers are recursive only.
[[nodiscard]] bool has_shape(Collective collective, FlatShape shape);

/// The time of a flat algorithm, which ignores nodes. A round takes as long as its slowest message:
/// between nodes latency + (n - 1) node_gap + max(b sender_per_byte, n b per_byte) with n senders
/// of b bytes on a node. Doubling starts, and halving ends, with ranks of the same node.
[[nodiscard]] double flat_seconds(Collective collective, FlatShape flat, const NodeShape& shape,
                                  Bytes block, const NodeMachine& machine);

/// The parts of the time of a call through node memory.
struct HierarchicalSeconds {
  double copies_in = 0;  ///< with combination inside nodes
  double signals = 0;
  double between = 0;  ///< the inner collective: the fastest flat one between nodes
  double copies_out = 0;
  [[nodiscard]] double total() const { return copies_in + signals + between + copies_out; }
};

/// The time with `leaders` lanes, which run their own collectives between nodes at the same time
/// (Parsons & Pai 2014: copy-in, T(nodes, c times the data), copy-out). Copies take max(b
/// copy_per_byte, n b shared_per_byte) with n ranks that copy b bytes each.
[[nodiscard]] HierarchicalSeconds hierarchical_seconds(Collective collective,
                                                       const NodeShape& shape, Bytes block,
                                                       int leaders, const NodeMachine& machine);
/// The number of leaders, a power of two, with the least time.
[[nodiscard]] int best_leaders(Collective collective, const NodeShape& shape, Bytes block,
                               const NodeMachine& machine);

/// A lower bound for any algorithm, whatever it does inside nodes: one latency, or the time of the
/// bytes that must pass a node's adapter if that is longer. 0 on one node.
[[nodiscard]] double between_nodes_bound(Collective collective, const NodeShape& shape, Bytes block,
                                         const NodeMachine& machine);

}  // namespace tutti
