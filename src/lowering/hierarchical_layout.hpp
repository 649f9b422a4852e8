/// Lays out the blocks of a call in node memory, for one chunk.
#pragma once

#include <algorithm>
#include <vector>

#include "core/nodes.hpp"
#include "lowering/hierarchical.hpp"

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
  [[nodiscard]] Bytes size(Rank rank) const;
  /// What local rank `local` sends to `to`, or receives from `from`.
  [[nodiscard]] Bytes sent(int local, Rank to) const;
  [[nodiscard]] Bytes received(int local, Rank from) const;
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

}  // namespace tutti
