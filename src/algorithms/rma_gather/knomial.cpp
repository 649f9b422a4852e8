/// One-sided gather along a k-nomial tree: a block of each window, and only the root calls.
#include <algorithm>

#include "algorithms/one_sided.hpp"
#include "passes/background.hpp"

namespace tutti {

/// The question runs down the tree; then a position awaits the blocks of its children's subtrees
/// and tells its parent those of its own, in notifications, as nobody else's memory has room for
/// them: 2 ceil(logk p) stages. The root is done when it has all blocks, and with it everyone.
Schedule rma_gather_knomial(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  const StepId asked = ask_along(schedule, problem, tree);
  for (const Position child : tree.children(me)) {
    schedule.await(problem.rank_at(child), tree.subtree(child));
  }
  if (me != 0) {
    schedule.after(schedule.notify_with(problem.rank_at(tree.parent(me)), tree.subtree(me)), asked);
  }
  return in_background(schedule.done(), me);
}

/// The k-nomial one with k = 2.
Schedule rma_gather_binomial(const Problem& problem) {
  return rma_gather_knomial(with_k(problem, 2));
}

/// All ranks are the root's children: two stages, p - 1 answers at once.
Schedule rma_gather_linear(const Problem& problem) {
  return rma_gather_knomial(with_k(problem, std::max(problem.p, 2)));
}

}  // namespace tutti
