/// Plans one chunk of a hierarchical call: copies, combinations and inner calls, without signals.
#pragma once

#include <vector>

#include "lowering/hierarchical_layout.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// Local ranks [first, last).
struct LocalRange {
  int first = 0;
  int last = 0;
};

/// What must be complete before a chunk is copied out.
enum class HierarchicalStage : std::uint8_t {
  written,   ///< ranks have written node memory, and combined it in reductions
  released,  ///< the inner calls
};

/// One rank's part in combining the vectors of its node.
struct HierarchicalCombining {
  std::vector<LocalRange> needs;          ///< ranks that must have written before
  std::vector<Operation> in_group;        ///< its slice of the vectors of its group
  std::vector<LocalRange> groups_needed;  ///< ranks whose `in_group` must be done before `steps`
  std::vector<Operation> steps;           ///< its slice of the groups' sums, or of all vectors
};

/// One rank's part in a chunk.
struct HierarchicalChunk {
  std::vector<Operation> in;
  bool combines = false;  ///< ranks of this node combine vectors before inner calls
  HierarchicalCombining combining;
  std::vector<InnerCall> calls;  ///< of the lanes that this rank leads
  LocalRange inner_needs;        ///< ranks that must have written or combined; empty: none
  bool writes = false;           ///< calls write to node memory that others must have left
  std::vector<Operation> out;
  HierarchicalStage out_after = HierarchicalStage::released;
  std::vector<LocalRange> out_needs;  ///< ranks that the copies out await
};

/// The chunk `view` of a call, for `rank` of view.node(), in memory from `base`.
[[nodiscard]] HierarchicalChunk hierarchical_chunk(const HierarchicalView& view, Rank rank,
                                                   Bytes base);

/// The most bytes that any chunk needs, in whole cache lines.
[[nodiscard]] Bytes half_of_node_memory(const HierarchicalProblem& call, const Nodes& nodes,
                                        int node);

/// Combines consecutive vectors of `bytes` from `base`, one for each local rank, from the right:
/// the last one becomes v0 op (v1 op (.. op v)). With groups, each rank first combines a slice of
/// its group's vectors, then a smaller one of the groups' sums. So only one vector of each group
/// passes between groups.
[[nodiscard]] HierarchicalCombining combining_of(const HierarchicalView& view, int local,
                                                 Bytes bytes, Bytes base);

/// Lets inner calls use the rank's own buffers instead of node memory, if no other rank of the node
/// touches the same bytes and they are contiguous in the buffer.
void use_sides(Program& program, const HierarchicalProblem& call, const Nodes& nodes, Rank rank);

}  // namespace tutti
