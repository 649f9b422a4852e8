/// Lowers hierarchical calls to programs: copies through node memory around an unmodified
/// collective between nodes (Parsons & Pai 2014).
#pragma once

#include <optional>

#include "core/nodes.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// The limit on node memory for a call, so that counts of inner calls and of combined slices fit an
/// int.
inline constexpr Bytes max_node_memory = Bytes{1} << 30;

/// The options of a call.
struct HierarchicalOptions {
  int leaders = 1;          ///< requested lanes; at most the ranks of the largest node
  int chunks = 1;           ///< successive parts of each block; see chunks_for
  bool commutative = true;  ///< of the operation, in reductions
  /// The rank's buffers hold packed bytes, and are not in place. So its inner call may use them
  /// instead of node memory that no other rank would touch.
  bool direct = false;
  /// MPI_IN_PLACE: the rank's contribution is in the receive buffer, or, at the root of a scatter,
  /// its result in the send buffer. Not in a reduce_scatter(_block), where results would overwrite
  /// contributions that later chunks read: there Area::send must be other memory.
  bool in_place = false;
  friend bool operator==(const HierarchicalOptions&, const HierarchicalOptions&) = default;
};

/// One call as a rank knows it. All members but `in_place`, `direct` and `sizes` are equal on all
/// ranks.
struct HierarchicalProblem : HierarchicalOptions {
  Collective collective = Collective::barrier;
  Rank root = 0;
  Bytes unit = 1;  ///< bytes of an element: parts of vectors and chunks end between elements
  /// In a gatherv or scatterv only the root's node knows all sizes; the others never read those of
  /// ranks elsewhere. An alltoallv has the bytes that local rank l sends to rank r, or receives
  /// from it, at l * p + r.
  CallSizes sizes;
  friend bool operator==(const HierarchicalProblem&, const HierarchicalProblem&) = default;
};

/// Must the ranks of a node exchange sizes, through its memory, before a program can be made? Else
/// every rank knows all sizes from its arguments.
[[nodiscard]] constexpr bool exchanges_sizes(Collective collective) {
  return !is_block_common(collective);
}

/// The form of a collective with equal blocks between these nodes: irregular if lanes differ
/// between nodes. The form of others depends on the sizes of a call. O(n).
[[nodiscard]] Collective form_between(Collective collective, const Nodes& nodes, int leaders);

/// The program of `rank`, which needs only the sizes that its node knows. The error, equal on all
/// ranks, is the reason why the call must stay flat: the collective has no hierarchical form, or an
/// operation that does not commute needs consecutive ranks on each node.
///
/// Layout of node memory: S is written by ranks, R by inner calls. On a node of c ranks, lane x of
/// k owns the local ranks [x c / k, (x + 1) c / k), or such a part of a vector.
///     gather(v), allgather(v)   S = [x][l]           R = [x][node][l]
///     scatter(v)                S = [x][node][t]     R = [x][t]
///     alltoall(v)               S = [x][node][t][s]  R = [x][node][t][s]; t's lane
///     reduce_scatter(_block)    S = [l][x][node][t]  R = [x][t]
///     reduce, allreduce         S = [l] vectors      R = one vector
///     bcast                     S = R = the vector
/// Every rank writes its own part of S. In reductions each rank combines one slice of all vectors
/// of its node into the last one. If the node has groups, it first combines a larger slice of the
/// vectors of its group, then its slice of the groups' sums. Groups are ignored if each is one
/// rank, or if their ranks are not consecutive and the operation does not commute. Chunks alternate
/// between two such layouts, so that ranks copy one while the other is between nodes. O(p) for each
/// lane and chunk; alltoall O(p c).
[[nodiscard]] Result<Program> hierarchical_program(const HierarchicalProblem& call,
                                                   const Nodes& nodes, Rank rank);

/// The bytes of node memory that `hierarchical_program` uses on a node: the bytes of its largest
/// chunk in whole cache lines, twice if it has several. O(p) for each lane; alltoall O(p c).
[[nodiscard]] Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes,
                                        int node);

/// The largest of these. Every rank must know the sizes of all blocks. Costs as much as that of one
/// node for the root's, if there is a root, and for one node of each number of ranks.
[[nodiscard]] Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes);

/// The limit on the chunks of a call.
inline constexpr int max_chunks = 1 << 17;
/// The limit on the operations of a call in several chunks, some 50 MiB: a chunk has one for each
/// rank of the node, one for each block of a rank, or two if there is one for each pair, and a few.
inline constexpr Bytes max_operations = 1 << 18;

/// The number of chunks, close to the least, that keeps `rank`'s node within `bound` bytes. None if
/// single elements, or as many chunks as the limits allow, need more. Equal on all nodes except for
/// alltoallv, gatherv and scatterv, where each node knows only its own part: there the caller takes
/// the maximum over nodes, by one allgather on lane 0, and each node's bound still holds. O(log
/// chunks) times the cost of hierarchical_memory for one chunk, on the root's node and one of each
/// number of ranks.
[[nodiscard]] std::optional<int> chunks_for(const HierarchicalProblem& call, const Nodes& nodes,
                                            Rank rank, Bytes bound);

}  // namespace tutti
