/// k-nomial gather over the order of the problem.
#include "shapes/knomial.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// Along the tree of the problem.
Schedule gather_ordered_tree(const Problem& problem);

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
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  for (const Position child : tree.children(me)) {
    schedule.recv(problem.rank_at(child), tree.subtree(child));
  }
  if (me != 0) schedule.send(problem.rank_at(tree.parent(me)), tree.subtree(me));
  return schedule.done();
}

}  // namespace tutti
