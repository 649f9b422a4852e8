/// Relay scatter: early ranks deliver for the late ones.
#include "shapes/relay.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// The root hands every early rank its own block and those of its share of the late ranks, which
/// then are served by many ports at once when they come:
///
///     p = 6, late = 2, root 2, order 2 0 5 1 4 3: 5 and 4 are late
///         2 -+- 0 --- 5
///            +- 1 --- 4
///            +- 3
///
/// For L late ranks among p that come together, ceil(L / (p - L)) blocks follow the last arrival
/// instead of L: the lower bound of a scatter to ranks that receive when they are there, where
/// the root is done before. p = 48, L = 24: one block instead of 24. In no paper that we know of,
/// though a binomial tree by arrival relays too, to the half of the ranks that are its leaves; for
/// more its largest subtrees make it the longer one (L = 44: 15 blocks instead of 11).
Schedule scatter_relay(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const RelayTree tree(problem.p, problem.parameters.late);
  const Position me = problem.position();
  if (me != 0) schedule.recv(problem.rank_at(tree.parent(me)), tree.subtree(me));
  for (const Position child : tree.children(me)) {
    schedule.send(problem.rank_at(child), tree.subtree(child));
  }
  return schedule.done();
}

}  // namespace tutti
