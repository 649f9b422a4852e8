/// The time of collectives on nodes that share an adapter: flat, and through node memory.
#pragma once

#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "cost/node_machine.hpp"

namespace tutti {

/// Nodes of equally many ranks, which follow one another.
struct NodeShape {
  int nodes = 1;
  int ranks = 1;  ///< of each node
  [[nodiscard]] int p() const { return nodes * ranks; }
};

/// How a flat algorithm goes about it; not all collectives have all of them.
enum class FlatShape : std::uint8_t {
  ring,       ///< p - 1 rounds to the neighbour; a reduction or broadcast of parts
  recursive,  ///< ceil(log2 p) rounds: doubling, halving, Bruck, binomial trees
  pairwise,   ///< p - 1 rounds, everyone with another one; all at once from or to a root
};
inline constexpr FlatShape flat_shapes[] = {FlatShape::ring, FlatShape::recursive,
                                            FlatShape::pairwise};
[[nodiscard]] std::string_view name_of(FlatShape shape);

// Times are of calls that all ranks enter at once, in seconds. `block` is what one rank has for one
// block of the contract: of a rank, a pair, or the whole vector; the mean where blocks differ. All
// functions are closed forms and O(log p).

/// Whether there is a flat algorithm of that shape: a ring for what goes around or in parts, all
/// pairs for what goes to all.
[[nodiscard]] bool has_shape(Collective collective, FlatShape shape);

/// A flat algorithm, blind to nodes. A round takes as long as its slowest message: between nodes
/// latency + (n - 1) node_gap + max(b sender_per_byte, n b per_byte) with n senders of b bytes on a
/// node. Doubling and halving meet ranks of the same node first and last.
[[nodiscard]] double flat_seconds(Collective collective, FlatShape flat, const NodeShape& shape,
                                  Bytes block, const NodeMachine& machine);
/// The fastest of them: what a good library without a node level does.
[[nodiscard]] double best_flat_seconds(Collective collective, const NodeShape& shape, Bytes block,
                                       const NodeMachine& machine);

/// Where the time of a call through node memory goes.
struct HierarchicalSeconds {
  double copies_in = 0;  ///< and combination inside nodes
  double signals = 0;
  double between = 0;  ///< the inner collective, the fastest flat one of the nodes
  double copies_out = 0;
  [[nodiscard]] double total() const { return copies_in + signals + between + copies_out; }
};

/// With that many lanes, each of them a collective of its own between nodes at the same time
/// (Parsons & Pai 2014: copy-in, T(nodes, c times the data), copy-out). Copies take
/// max(b copy_per_byte, n b shared_per_byte) with n ranks that copy b bytes each.
[[nodiscard]] HierarchicalSeconds hierarchical_seconds(Collective collective,
                                                       const NodeShape& shape, Bytes block,
                                                       int leaders, const NodeMachine& machine);
/// The number of leaders, a power of two, for which that takes the least time.
[[nodiscard]] int best_leaders(Collective collective, const NodeShape& shape, Bytes block,
                               const NodeMachine& machine);

/// No algorithm is over earlier, whatever it does inside nodes: what must enter or leave a node
/// through its adapter, and one latency. 0 on one node.
[[nodiscard]] double between_nodes_bound(Collective collective, const NodeShape& shape, Bytes block,
                                         const NodeMachine& machine);

}  // namespace tutti
