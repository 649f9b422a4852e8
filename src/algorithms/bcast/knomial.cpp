/// k-nomial broadcast over the order of the problem.
#include "shapes/knomial.hpp"

#include <ranges>

#include "schedule/builder.hpp"

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
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  if (me != 0) schedule.recv(problem.rank_at(tree.parent(me)), vector);
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), vector);
  }
  return schedule.done();
}

}  // namespace tutti
