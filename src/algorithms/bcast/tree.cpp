/// Broadcast along k-nomial and Bine trees, and along the tree built from the arrivals.
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
  return scatter_along(problem, OfVectors(Knomial(problem.p, problem.parameters.k)));
}

/// The same along a Bine tree (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// ceil(log2 p) (alpha + m beta) for any p, as a binomial tree, with about 0.7 of its distances
/// modulo p.
Schedule bcast_bine(const Problem& problem) {
  return scatter_along(problem, OfVectors(BineTree(problem.p)));
}

/// The informed rank that is free first sends to the uninformed rank that arrives first
/// (shapes/informed.hpp draws the tree). Ranks that arrive together form a binomial tree; one late
/// rank receives the vector within alpha + m beta of its arrival.
Schedule bcast_earliest(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  if (problem.tree.parent != no_rank) schedule.recv(problem.tree.parent, vector);
  for (const Subtree& child : problem.tree.children) schedule.send(child.root, vector);
  return schedule.done();
}

}  // namespace tutti
