/// k-nomial scatter over the order of the problem.
#include "shapes/knomial.hpp"

#include <ranges>

#include "schedule/builder.hpp"

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
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  if (me != 0) schedule.recv(problem.rank_at(tree.parent(me)), tree.subtree(me));
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), tree.subtree(child));
  }
  return schedule.done();
}

}  // namespace tutti
