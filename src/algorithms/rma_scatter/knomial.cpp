/// One-sided scatter of one block into each window along a k-nomial tree; only the root calls.
#include <algorithm>
#include <ranges>

#include "algorithms/one_sided.hpp"

namespace tutti {

/// A position awaits the blocks of its subtree, then serves its children, largest subtrees first. A
/// window has room only for its own block, so notifications carry the blocks for other ranks. Only
/// a leaf's block is put, if it is too large for a notification.
///
///     p = 6, k = 2, root 2, order 2 3 4 5 0 1
///         2 -+- 0 --- 1
///            +- 4 --- 5
///            +- 3
Schedule rma_scatter_knomial(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  const Position me = problem.position();
  StepId awaited = ScheduleBuilder::none;
  const auto is_put = [&](BlockRange blocks) {
    return blocks.count() == 1 && schedule.bytes(blocks) > problem.parameters.carry;
  };
  if (me != 0) {
    const BlockRange blocks = tree.subtree(me);
    awaited = schedule.await(problem.rank_at(tree.parent(me)), blocks, !is_put(blocks));
  }
  std::vector<Position> puts;
  for (const Position child : tree.children(me) | std::views::reverse) {
    const BlockRange blocks = tree.subtree(child);
    if (is_put(blocks)) {
      schedule.put(problem.rank_at(child), blocks);
      puts.push_back(child);
    } else {
      schedule.after(schedule.notify(problem.rank_at(child), blocks, true), awaited);
    }
  }
  for (const Position child : puts) {
    const StepId flushed = schedule.flush(problem.rank_at(child));
    schedule.after(schedule.notify(problem.rank_at(child), tree.subtree(child)), flushed);
  }
  return with_done_counter(schedule, problem, awaited);
}

/// All ranks are the root's children: p - 1 puts or notifications, one gap apart.
Schedule rma_scatter_linear(const Problem& problem) {
  return rma_scatter_knomial(problem.with_k(std::max(problem.p, 2)));
}

}  // namespace tutti
