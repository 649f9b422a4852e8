/// Broadcast along k-nomial and Bine trees.
#include "algorithms/tree.hpp"

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// A position receives the vector from its parent, then sends it to its children, largest subtrees
/// first, because these have most hops left.
///
///     p = 6, k = 2, root 2, order 2 3 4 5 0 1
///         2 -+- 0 --- 1
///            +- 4 --- 5
///            +- 3
///
/// (k - 1) ceil(logk p) (alpha + m beta) at most.
Schedule bcast_knomial(const Problem& problem) {
  return bcast_along(problem, Knomial(problem.p, problem.parameters.k));
}

/// The same along a Bine tree (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// ceil(log2 p) (alpha + m beta) for any p, as a binomial tree, with about 0.7 of its distances
/// modulo p.
Schedule bcast_bine(const Problem& problem) { return bcast_along(problem, BineTree(problem.p)); }

}  // namespace tutti
