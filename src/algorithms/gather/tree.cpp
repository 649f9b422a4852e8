/// Gather along k-nomial and Bine trees, and along the ordered tree built from the sizes.
#include "algorithms/tree.hpp"

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// Every subtree is a range of ranks, so data arrives in rank order (Träff 2017, section 2;
/// protocols/ordered_tree.hpp draws the tree). All receives are in flight at once; subtrees are
/// served as they become ready.
Schedule gather_ordered_tree(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  for (const Subtree& child : tree.children) {
    schedule.part(StepKind::recv, child.root, {child.blocks, child.holes}, 0, child.bytes);
  }
  if (tree.parent != no_rank) {
    const Subtree& self = tree.self;
    schedule.part(StepKind::send, tree.parent, {self.blocks, self.holes}, 0, self.bytes);
  }
  return schedule.done();
}

/// The root is at position 0 of the order. A position receives the subtrees of its children, then
/// sends its own subtree to its parent:
///
///     p = 6, k = 2, root 2, order 2 0 5 1 4 3
///         2 -+- 0
///            +- 5 --- 1
///            +- 4 --- 3
///
/// The root receives at most (k-1) ceil(logk p) messages, plus one for each subtree that is too
/// heavy for the memory of the ranks on its path. With k = 2, `binomial`, the block at position v
/// travels popcount(v) hops (Proficz 2020, BNOM).
Schedule gather_knomial(const Problem& problem) {
  if (problem.tree.self.root != no_rank) return gather_ordered_tree(problem);
  return gather_along(problem, Knomial(problem.p, problem.parameters.k));
}

/// A subtree is a range too (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 6, root 2
///         2 -+- 1 --- 0
///            +- 3 --- 4 --- 5
///
/// ceil(log2 p) alpha + (p - 1) m beta for any p.
Schedule gather_bine(const Problem& problem) { return gather_along(problem, BineTree(problem.p)); }

}  // namespace tutti
