/// What one chunk of a call through node memory copies, combines and calls, without the signals.
#pragma once

#include <vector>

#include "lowering/hierarchical_layout.hpp"
#include "schedule/hierarchical_plan.hpp"

namespace tutti {

/// Local ranks [first, last).
struct LocalRange {
  int first = 0;
  int last = 0;
};

/// What must be over before a chunk is copied out.
enum class HierarchicalStage : std::uint8_t {
  written,   ///< node memory has been written by its ranks, and combined where it is
  released,  ///< the inner calls
};

/// One rank's part in combining the vectors of its node.
struct HierarchicalCombining {
  std::vector<LocalRange> needs;           ///< who must have written before
  std::vector<HierarchicalStep> in_group;  ///< its slice of the vectors of its group
  std::vector<LocalRange> groups_needed;   ///< who must have done that before the rest
  std::vector<HierarchicalStep> steps;     ///< its slice of the groups' sums, or of all vectors
};

/// One rank's part in a chunk.
struct HierarchicalChunk {
  std::vector<HierarchicalStep> in;
  bool combines = false;  ///< ranks of this node combine vectors before anything else
  HierarchicalCombining combining;
  std::vector<InnerCall> calls;  ///< of the lanes that this rank leads
  LocalRange inner_needs;        ///< who must have written or combined before; empty: nobody
  bool writes = false;           ///< the calls write to node memory, which others must have left
  std::vector<HierarchicalStep> out;
  HierarchicalStage out_after = HierarchicalStage::released;
  std::vector<LocalRange> out_needs;  ///< whom the copies out await
};

/// The chunk of `view` for `rank`, of view.node(), in memory from `base` on.
[[nodiscard]] HierarchicalChunk hierarchical_chunk(const HierarchicalView& view, Rank rank,
                                                   Bytes base);

/// Bytes that the chunk needs on the view's node.
[[nodiscard]] Bytes chunk_memory(const HierarchicalView& view);

/// The most that any chunk needs, in whole cache lines.
[[nodiscard]] Bytes half_of_node_memory(const HierarchicalProblem& call, const Nodes& nodes,
                                        int node);

/// Vectors of `bytes` that lie one after the other from `base` on, one of each local rank, are
/// combined from the right, so that the last one becomes v0 op (v1 op (.. op v)). In groups each
/// rank first takes a slice of those of its group, then a smaller one of the groups' sums, so that
/// what passes between groups is one vector of each.
[[nodiscard]] HierarchicalCombining combining_of(const HierarchicalView& view, int local,
                                                 Bytes bytes, Bytes base);

/// Lets the plan's only inner call read and write the rank's own sides, where a copy is of the same
/// bytes one after the other and nobody else on the node touches them.
void use_sides(HierarchicalPlan& plan, const Nodes& nodes);

}  // namespace tutti
