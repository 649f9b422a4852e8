/// The node level: any collective as copies through node memory around an unmodified one between
/// the nodes (Parsons & Pai 2014).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/nodes.hpp"
#include "core/result.hpp"
#include "schedule/hierarchical_plan.hpp"

namespace tutti {

/// No node may have more memory for a call, so that bytes and elements of inner calls, and of
/// slices that are combined, can be counted in an int.
inline constexpr Bytes max_node_memory = Bytes{1} << 30;

/// The sizes that a rank of a node knows, itself or from the others of its node; see
/// size_exchange_words().
struct HierarchicalSizes {
  /// Of each block where all are equal: gather, scatter, allgather, reduce_scatter_block, alltoall
  /// (for one rank); of the vector: bcast, reduce, allreduce.
  Bytes each = 0;
  /// By rank: gatherv, scatterv, allgatherv, reduce_scatter. In a gatherv or scatterv only the
  /// root's node knows all; elsewhere those of other nodes' ranks are never read.
  std::vector<Bytes> by_rank;
  /// alltoallv: what local rank l has for rank r is at l * p + r, and what it gets from rank r.
  std::vector<Bytes> sent;
  std::vector<Bytes> received;
  friend bool operator==(const HierarchicalSizes&, const HierarchicalSizes&) = default;
};

/// One call as a rank of a node sees it. All but `direct` and `sizes` is the same on all ranks.
struct HierarchicalProblem {
  Collective collective = Collective::barrier;
  Rank root = 0;
  int leaders = 1;          ///< lanes asked for; no more than the largest node has ranks
  bool commutative = true;  ///< the operation, where one reduces
  Bytes unit = 1;           ///< of an element: parts of vectors and chunks end between elements
  int chunks = 1;  ///< each block goes in so many parts one after the other; see chunks_for
  /// This rank's sides can be used as packed bytes where they are: its inner call may read and
  /// write them instead of node memory that nobody else would touch.
  bool direct = false;
  HierarchicalSizes sizes;
  friend bool operator==(const HierarchicalProblem&, const HierarchicalProblem&) = default;
};

/// How many numbers each rank tells the others of its node before a plan can be made: nothing but
/// node memory is needed for it, whatever the collective.
///  - alltoallv (and w): 2 p, the bytes for each rank, then those from each rank;
///  - gatherv, scatterv: its own bytes, and at the root those of all ranks: p + 1;
///  - all others: 0, as every rank knows all sizes from its arguments.
[[nodiscard]] int size_exchange_words(Collective collective, int p, bool at_root);

/// What a collective with blocks of equal size is between these nodes: irregular where lanes are
/// not alike on all of them. Others are what the sizes of a call make them. O(n).
[[nodiscard]] Collective form_between(Collective collective, const Nodes& nodes, int leaders);

/// The plan of `rank`, who needs no more of `sizes` than its node knows. The refusal, the same on
/// all ranks, says why the call must stay flat: an operation that does not commute needs ranks of a
/// node to follow one another.
///
/// Layout of node memory, for lane x of k, which owns of a node with c ranks the locals
/// [x c / k, (x + 1) c / k), or such a part of a vector:
///     gather(v), allgather(v)   S = [x][l]           R = [x][node][l]
///     scatter(v)                S = [x][node][t]     R = [x][t]
///     alltoall(v)               S = [x][node][t][s]  R = [x][node][t][s]; t's lane
///     reduce_scatter(_block)    S = [l][x][node][t]  R = [x][t]
///     reduce, allreduce         S = [l] vectors      R = one vector
///     bcast                     S = R = the vector
/// Every rank writes its own part of S; reductions are shared by slices, each rank combining one
/// slice of all vectors of its node into the last one. Where the node's ranks are in groups, each
/// one first combines a larger slice of the vectors of its group, then its slice of the groups'
/// sums; not where each group is one rank, nor where ranks of a group do not follow one another and
/// the operation does not commute. Chunks use two such layouts in turn, so that
/// ranks copy one while the other is between nodes. O(p) for each lane and chunk; alltoall O(p c).
[[nodiscard]] Result<HierarchicalPlan> hierarchical_plan(const HierarchicalProblem& call,
                                                         const Nodes& nodes, Rank rank);

/// Bytes of node memory that `hierarchical_plan` uses on `rank`'s node. O(p) for each lane and
/// chunk; alltoall O(p c).
[[nodiscard]] Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes,
                                        Rank rank);

/// No call goes in more.
inline constexpr int max_chunks = 1 << 17;

/// Enough chunks for `rank`'s node to stay within `bound` bytes of memory, hardly more than needed.
/// None where single elements, or as many chunks as there may be, would still need more. The same
/// on all nodes but for alltoallv, gatherv and scatterv, where each node knows its own part only:
/// whoever bounds those takes the maximum over nodes, one number in one allreduce on lane 0, and
/// only there; no node needs more memory for that than for its own. O(log chunks) times what
/// hierarchical_memory takes for one chunk, on each node whose sizes it knows; where all blocks are
/// equal, on one of each size.
[[nodiscard]] std::optional<int> chunks_for(const HierarchicalProblem& call, const Nodes& nodes,
                                            Rank rank, Bytes bound);

}  // namespace tutti
