/// One-sided reduction along a k-nomial tree: all windows' vectors combined, and only the root
/// calls.
#include <algorithm>

#include "algorithms/one_sided.hpp"
#include "passes/background.hpp"

namespace tutti {

/// The question runs down the tree; then a position combines its own vector with those that its
/// children tell it of, and tells its parent: 2 ceil(logk p) stages. For operations that commute,
/// as ranks are combined in the sequence of the order.
Schedule rma_reduce_knomial(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  const StepId asked = ask_along(schedule, problem, tree);
  for (const Position child : tree.children(me)) {
    schedule.combine(schedule.await_aside(problem.rank_at(child), vector), Operand::right);
  }
  if (me != 0) {
    schedule.after(schedule.notify_with(problem.rank_at(tree.parent(me)), vector), asked);
  }
  return in_background(schedule.done(), me);
}

/// The k-nomial one with k = 2.
Schedule rma_reduce_binomial(const Problem& problem) {
  return rma_reduce_knomial(with_k(problem, 2));
}

/// All ranks are the root's children, which combines p - 1 vectors.
Schedule rma_reduce_linear(const Problem& problem) {
  return rma_reduce_knomial(with_k(problem, std::max(problem.p, 2)));
}

}  // namespace tutti
