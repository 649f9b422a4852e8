/// Scatter along k-nomial and Bine trees.
#include "algorithms/tree.hpp"

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// Along the tree of the problem.
Schedule scatter_ordered_tree(const Problem& problem);

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
