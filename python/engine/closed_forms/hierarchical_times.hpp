/// Models the time of flat collectives on nodes whose ranks share an adapter, and executes the
/// programs of hierarchical calls in modelled time.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/nodes.hpp"
#include "cost/machine.hpp"
#include "lowering/program.hpp"

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
  /// - "pairwise": p - 1 rounds, each rank with another one; all directly from or to a root, whose
  ///   messages are a gap apart at least, inside its node an overhead;
  /// - "scattered": as pairwise, 32 messages of a rank at once.
  std::string_view shape;
  double seconds;
};

/// Those of the shapes that the collective has: rings serve vectors and unrooted collectives but
/// alltoalls, recursive shapes all but alltoallv, pairwise shapes all but vectors, scattered
/// ones alltoallv, as in MPICH; barriers are recursive only. `block` is the bytes of one block of
/// the contract: of a rank, a pair, or the whole vector; the mean if blocks differ. `lanes` such
/// collectives run at once. A round takes as long as its slowest message: between nodes latency +
/// (n - 1) node_gap + max(b sender_per_byte, n b per_byte) with n senders of b bytes on a node.
/// Doubling starts, and halving ends, with ranks of the same node. Closed forms, O(log p).
[[nodiscard]] std::vector<FlatTime> flat_times(Collective collective, const NodeShape& shape,
                                               double block, const Machine& machine, int lanes = 1);

/// The fastest flat algorithm of a collective between one rank of each node, while `lanes` such
/// collectives run at once.
[[nodiscard]] double fastest_between(Collective collective, int nodes, int lanes, double block,
                                     const Machine& machine);

/// The parts of the time of a hierarchical call, along its critical path. Seconds.
struct HierarchicalSeconds {
  double copies_in = 0;  ///< with combination inside nodes
  double signals = 0;
  double between = 0;  ///< inner collectives: the fastest flat ones between nodes
  double copies_out = 0;
  [[nodiscard]] double total() const { return copies_in + signals + between + copies_out; }
};

/// The time until the last rank has completed its program, if all ranks begin at once; `programs`
/// are those of all ranks, by rank. A copy of b bytes takes max(b copy_per_byte, n b
/// shared_per_byte), where n ranks of the node copy as many at once; a combination the same with
/// combine_per_byte and three accesses. A rank sees the signals that it awaits one after another.
/// An inner collective begins when its last member calls it (Parsons & Pai 2014: copy-in, T(nodes,
/// c times the data), copy-out). O(operations).
[[nodiscard]] HierarchicalSeconds program_seconds(std::span<const Program> programs,
                                                  const Nodes& nodes, const Machine& machine);

/// The same for a call on nodes of equal size, with `leaders` lanes, from 6 programs: those of
/// 65,536 ranks would be too many. The first and the last rank, and the leader of the largest lane,
/// of the root's node and of another one stand for all. On more than 3 nodes, copies follow from
/// those on 2 and 3, because they grow in proportion. `block` as in flat_times; the collective has
/// a hierarchical form. O(c^2) for nodes of c ranks.
[[nodiscard]] HierarchicalSeconds hierarchical_seconds(Collective collective,
                                                       const NodeShape& shape, Bytes block,
                                                       int leaders, const Machine& machine);

/// The number of leaders per node, a power of two, with the least time.
[[nodiscard]] int best_leaders(Collective collective, const NodeShape& shape, Bytes block,
                               const Machine& machine);

}  // namespace tutti
