/// Models the time of flat collectives on nodes whose ranks share an adapter.
#pragma once

#include <string_view>

#include "core/types.hpp"
#include "cost/machine.hpp"

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

/// The fastest flat algorithm of a collective between one rank of each node, while `lanes` such
/// collectives run at once.
[[nodiscard]] double fastest_between(Collective collective, int nodes, int lanes, double block,
                                     const NodeMachine& machine);

}  // namespace tutti
