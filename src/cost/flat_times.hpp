/// Models the time of flat collectives on nodes whose ranks share an adapter.
#pragma once

#include <string_view>
#include <vector>

#include "core/types.hpp"
#include "cost/machine.hpp"

namespace tutti {

/// Nodes of equal size with consecutive ranks.
struct NodeShape {
  int nodes = 1;
  int ranks = 1;  ///< of each node
  [[nodiscard]] int p() const { return nodes * ranks; }
};

/// The modelled seconds of a flat algorithm, which ignores nodes, if all ranks enter at once.
struct FlatTime {
  /// - "ring": p - 1 rounds to the neighbour; a reduction or broadcast of parts;
  /// - "recursive": ceil(log2 p) rounds: doubling, halving, Bruck, binomial trees;
  /// - "pairwise": p - 1 rounds, each rank with another one; all directly from or to a root.
  std::string_view shape;
  double seconds;
};

/// Those of the shapes that the collective has: rings serve vectors and unrooted collectives but
/// alltoalls, recursive shapes all but alltoallv, pairwise shapes all but vectors; barriers are
/// recursive only. `block` is the bytes of one block of the contract: of a rank, a pair, or the
/// whole vector; the mean if blocks differ. `lanes` such collectives run at once. A round takes as
/// long as its slowest message: between nodes latency + (n - 1) node_gap + max(b sender_per_byte, n
/// b per_byte) with n senders of b bytes on a node. Doubling starts, and halving ends, with ranks
/// of the same node. Closed forms, O(log p).
[[nodiscard]] std::vector<FlatTime> flat_times(Collective collective, const NodeShape& shape,
                                               double block, const NodeMachine& machine,
                                               int lanes = 1);

/// The fastest flat algorithm of a collective between one rank of each node, while `lanes` such
/// collectives run at once.
[[nodiscard]] double fastest_between(Collective collective, int nodes, int lanes, double block,
                                     const NodeMachine& machine);

}  // namespace tutti
