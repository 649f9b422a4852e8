/// k-nomial reduce over the order of the problem.
#include "shapes/knomial.hpp"

#include "schedule/builder.hpp"

namespace tutti {

namespace {

constexpr BlockRange vector = {0, 1};

/// Position `me` combines the vectors of its children, which are at later positions, and sends the
/// result to its parent.
void climb(ScheduleBuilder& schedule, const Problem& problem, const Knomial& tree, Position me) {
  for (const Position child : tree.children(me)) {
    schedule.reduce(problem.rank_at(child), vector, Operand::right);
  }
  if (me != 0) schedule.send(problem.rank_at(tree.parent(me)), vector);
}

}  // namespace

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
  ScheduleBuilder schedule(problem);
  climb(schedule, problem, Knomial(problem.p, problem.parameters.k), problem.position());
  return schedule.done();
}

/// For operations that do not commute: the k-nomial tree in natural order, then a message from rank
/// 0 to the root if these differ (MPICH's binomial reduce).
Schedule reduce_knomial_ordered(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  climb(schedule, problem, Knomial(problem.p, problem.parameters.k), problem.rank);
  if (problem.root == 0) return schedule.done();
  if (problem.rank == 0) schedule.send(problem.root, vector);
  if (problem.at_root()) schedule.recv(0, vector);
  return schedule.done();
}

}  // namespace tutti
