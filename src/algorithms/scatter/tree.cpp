/// Scatter along k-nomial and Bine trees, and along the ordered tree built from the sizes.
#include "algorithms/tree.hpp"

#include <algorithm>
#include <functional>

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// The gather backwards over the same tree, in the same time (Träff 2017, section 2). A rank first
/// serves the child whose subtree takes longest to complete.
Schedule scatter_ordered_tree(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  if (tree.parent != no_rank) {
    const Subtree& self = tree.self;
    schedule.part(StepKind::recv, tree.parent, {self.blocks, self.holes}, 0, self.bytes);
  }
  std::vector<Subtree> children = tree.children;
  std::ranges::stable_sort(children, std::greater<>(), &Subtree::ready);
  for (const Subtree& child : children) {
    schedule.part(StepKind::send, child.root, {child.blocks, child.holes}, 0, child.bytes);
  }
  return schedule.done();
}

/// The k-nomial gather backwards: a position receives its subtree from its parent, then sends its
/// children theirs, the largest subtree first, because it has most hops left.
///
///     p = 6, k = 2, root 2, order 2 0 5 1 4 3
///         2 -+- 4 --- 3
///            +- 5 --- 1
///            +- 0
///
/// With k = 2, `binomial`, the block at position v travels popcount(v) hops (Proficz 2020, BNOM).
Schedule scatter_knomial(const Problem& problem) {
  if (problem.tree.self.root != no_rank) return scatter_ordered_tree(problem);
  return scatter_along(problem, Knomial(problem.p, problem.parameters.k));
}

/// The Bine gather backwards (De Sensi et al. 2025, section 4):
///
///     p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// ceil(log2 p) alpha + (p - 1) m beta for any p.
Schedule scatter_bine(const Problem& problem) {
  return scatter_along(problem, BineTree(problem.p));
}

}  // namespace tutti
