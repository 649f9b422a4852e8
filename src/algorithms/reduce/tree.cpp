/// Reduce along k-nomial and Bine trees.
#include "algorithms/tree.hpp"

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// The k-nomial gather with combined vectors. Combines in the sequence of the order, which is the
/// sequence of ranks only if the root is rank 0.
///
///     p = 6, k = 2, root 2, order 2 3 4 5 0 1
///         2 -+- 3
///            +- 4 --- 5
///            +- 0 --- 1
///
/// (k - 1) ceil(logk p) (alpha + m beta) at most.
Schedule reduce_knomial(const Problem& problem) {
  return gather_along(problem, OfVectors(Knomial(problem.p, problem.parameters.k)));
}

/// For operations that do not commute: the k-nomial tree in natural order, then a message from rank
/// 0 to the root if these differ (MPICH's binomial reduce).
Schedule reduce_knomial_ordered(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  schedule.append(reduce_knomial(problem));
  if (problem.root == 0) return schedule.done();
  if (problem.rank == 0) schedule.send(problem.root, vector);
  if (problem.at_root()) schedule.recv(0, vector);
  return schedule.done();
}

/// The Bine broadcast backwards: a position combines the vectors of its children, smallest subtrees
/// first, and sends the result to its parent (De Sensi et al. 2025, section 4). Children are on
/// both sides of it, so the operation must commute. ceil(log2 p) (alpha + m beta) for any p.
Schedule reduce_bine(const Problem& problem) {
  return gather_along(problem, OfVectors(BineTree(problem.p)));
}

}  // namespace tutti
