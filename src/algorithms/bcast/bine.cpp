/// Broadcast along a Bine tree.
#include "shapes/bine.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// A position receives the vector from its parent, then sends it to its children, largest subtrees
/// first (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// ceil(log2 p) (alpha + m beta) for any p, as a binomial tree, with about 0.7 of its distances
/// modulo p.
Schedule bcast_bine(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const BineTree::Node node = BineTree(problem.p).at(problem.position());
  if (!problem.at_root()) schedule.recv(problem.rank_at(node.parent), vector);
  for (const auto& child : node.children) schedule.send(problem.rank_at(child.root), vector);
  return schedule.done();
}

}  // namespace tutti
