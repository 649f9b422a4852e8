/// The chunks of a hierarchical call: their blocks in node memory, and one rank's operations with
/// the signals between ranks.
#pragma once

#include <algorithm>
#include <vector>

#include "core/nodes.hpp"
#include "lowering/hierarchical.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// Part `i` of `count` of `bytes`, ending between elements of `unit` bytes.
[[nodiscard]] ByteRange part_of(Bytes bytes, int i, int count, Bytes unit);

/// The lane that owns a local rank. A lane owns the ranks from its leader up to the next one.
[[nodiscard]] constexpr int lane_of(int local, int lanes, int ranks) {
  return ((local + 1) * lanes + ranks - 1) / ranks - 1;
}

/// One chunk of a call, as one node sees it.
struct HierarchicalView {
  const HierarchicalProblem& call;
  const Nodes& nodes;
  int node;
  int chunk;
  int lanes = std::clamp(call.leaders, 1, nodes.most());

  [[nodiscard]] int ranks() const { return nodes.size(node); }
  /// The part of a block in this chunk.
  [[nodiscard]] ByteRange part(Bytes whole) const {
    return part_of(whole, chunk, call.chunks, call.unit);
  }
  /// The whole block of `rank`, or the vector.
  [[nodiscard]] Bytes size(Rank rank) const { return call.sizes.of(rank); }
  /// What local rank `local` sends to `other`, or receives from it.
  [[nodiscard]] Bytes sent(int local, Rank other) const {
    return of_pair(call.sizes.sent, local, other);
  }
  [[nodiscard]] Bytes received(int local, Rank other) const {
    return of_pair(call.sizes.received, local, other);
  }

 private:
  /// Empty `sizes`: all are equal.
  [[nodiscard]] Bytes of_pair(const std::vector<Bytes>& sizes, int local, Rank other) const {
    return sizes.empty() ? call.sizes.each : sizes[index(local) * index(nodes.p()) + index(other)];
  }
};

/// A part of node memory with pieces in sequence by lane, and in each lane by node.
struct LaneLayout {
  std::vector<Bytes> at;           ///< offset by piece
  std::vector<InnerBuffer> lanes;  ///< counts and displacements by node
  Bytes bytes = 0;

  /// The inner buffer of `lane` in memory that begins at `base`.
  [[nodiscard]] InnerBuffer end(int lane, Bytes base) const;
};

/// [lane][node][local]: one piece for each rank, `at` by rank. Else of this node alone: one piece
/// for each local rank, `at` by local; one count.
[[nodiscard]] LaneLayout layout_of_blocks(const HierarchicalView& view, bool of_all);
/// [lane][node][t][s] of an alltoall: what ranks s of this node send to ranks t of each node; `at`
/// by s * p + rank.
[[nodiscard]] LaneLayout layout_to_all(const HierarchicalView& view);
/// [lane][node][t][s]: what ranks t of this node receive from ranks s of each node; `at` by t * p +
/// rank.
[[nodiscard]] LaneLayout layout_from_all(const HierarchicalView& view);
/// A vector, cut into a part for each lane; `at` of one piece, one count.
[[nodiscard]] LaneLayout layout_of_vector(const HierarchicalView& view);

/// Appends operations to the program of one rank that shares node memory.
class NodeProgramBuilder {
 public:
  NodeProgramBuilder(int local, int ranks)
      : local_(local), ranks_(ranks), awaited_(index(ranks), -1) {}

  // Sequence numbers of a chunk, in the sequence of hierarchical_chunks(); each rank signals those
  // of its own steps.
  static int entered(int chunk) { return chunk == 0 ? 1 : 5 * chunk - 3; }
  static int grouped(int chunk) { return 5 * chunk + 3; }
  static int combined(int chunk) { return 5 * chunk + 4; }
  static int released(int chunk) { return 5 * chunk + 5; }
  static int left(int chunk) { return 5 * chunk + 6; }

  [[nodiscard]] int local() const { return local_; }
  /// Awaits the local ranks [first, last), unless earlier awaits show that they are as far.
  void await(int sequence, int first, int last);
  /// The same for an ascending list of local ranks.
  void await(int sequence, const std::vector<int>& locals);
  /// Waits until all ranks have left the memory that a chunk reuses.
  void await_free(int chunk) { await(chunk < 2 ? 0 : left(chunk - 2), 0, ranks_); }
  /// Replaces a signal that is the last operation. A rank that is alone on its node signals only
  /// the end of the call, for the next call.
  void signal(int sequence) {
    if (ranks_ > 1) append_signal(sequence);
  }
  void add(const std::vector<Operation>& operations) {
    program_.operations.insert(program_.operations.end(), operations.begin(), operations.end());
  }
  void add(InnerCall call);
  /// The program, after chunks [0, count).
  [[nodiscard]] Program done(int count);

 private:
  void append_signal(int sequence);

  int local_;
  int ranks_;
  std::vector<int> awaited_;  ///< by local rank, the highest awaited sequence number
  Program program_;
};

/// The program of `rank`, without `needs`, in node memory. Two chunks are under way at once:
///
///     in 0 | in 1  inner 0  out 0 | in 2  inner 1  out 1 | in 3  ..
[[nodiscard]] Program hierarchical_chunks(const HierarchicalProblem& call, const Nodes& nodes,
                                          Rank rank);

/// The call as a single chunk, in which each block has the size of its largest part.
[[nodiscard]] HierarchicalProblem largest_chunk(const HierarchicalProblem& call);

/// Combines consecutive vectors of `bytes` from `base`, one for each local rank, from the right:
/// the last one becomes v0 op (v1 op (.. op v)). With groups, each rank first combines a slice of
/// its group's vectors, then a smaller one of the groups' sums. So only one vector of each group
/// passes between groups.
void combine_vectors(const HierarchicalView& view, Bytes bytes, Bytes base,
                     NodeProgramBuilder& program);

/// Lets inner calls use the rank's own buffers instead of node memory, if no other rank of the node
/// touches the same bytes and they are contiguous in the buffer.
void use_sides(Program& program, const HierarchicalProblem& call, const Nodes& nodes, Rank rank);

}  // namespace tutti
