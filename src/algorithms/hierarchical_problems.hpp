/// The node level from global data: what a verifier, a simulator or a test knows and no rank does.
#pragma once

#include <span>
#include <vector>

#include "algorithms/problems.hpp"
#include "lowering/hierarchical.hpp"

namespace tutti {

/// How a call goes through node memory.
struct HierarchicalOptions {
  int leaders = 1;
  int chunks = 1;
  bool commutative = true;  ///< the operation, where one reduces
  bool direct = false;      ///< see HierarchicalProblem
};

/// The call as the ranks of `node` see it, with no more sizes than they know; those that they do
/// not know are -1.
[[nodiscard]] HierarchicalProblem hierarchical_problem(const Call& call, const Nodes& nodes,
                                                       int node,
                                                       const HierarchicalOptions& options);

/// The plans of all ranks, or why the call must stay flat.
[[nodiscard]] Result<std::vector<HierarchicalPlan>> hierarchical_plans(
    const Call& call, const Nodes& nodes, const HierarchicalOptions& options);

/// The chunks that keep every node within `bound` bytes, or why the call must stay flat.
[[nodiscard]] Result<int> agreed_chunks(const Call& call, const Nodes& nodes,
                                        const HierarchicalOptions& options, Bytes bound);

/// The inner calls of all lanes, lane by lane, each as a call of its own whose ranks are nodes.
/// `unit` is that of the call.
[[nodiscard]] std::vector<Call> inner_calls(std::span<const HierarchicalPlan> plans,
                                            const Nodes& nodes, Bytes unit);

}  // namespace tutti
