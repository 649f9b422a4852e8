/// One-sided broadcast along a k-nomial tree; inner ranks forward in the background.
#include "shapes/knomial.hpp"

#include "algorithms/one_sided.hpp"

namespace tutti {

/// A position awaits the vector from its parent, then serves its children, largest subtrees first.
/// All puts are in flight before the first flush: at most (k - 1) ceil(logk p) stages. The tree is
/// that of shapes/knomial.hpp.
Schedule rma_bcast_knomial(const Problem& problem) {
  return broadcast_along(problem, knomial_shape(problem), 1);
}

/// Paznikov 2024, figures 4 and 5: smallest subtrees first. Each child is served completely before
/// the next, with a put of the data, a put of the description, the notification and a flush. The
/// largest subtree starts last, so k = log2 p rounds become k (k + 1) / 2 stages in sequence. The
/// paper flushes only after the notification, which may overtake the data; this adds a flush
/// before it.
Schedule rma_bcast_paznikov(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, 2);
  const Position me = problem.position();
  StepId awaited = ScheduleBuilder::none;
  if (me != 0) awaited = schedule.await(problem.rank_at(tree.parent(me)), vector);
  schedule.wait(awaited);
  for (const Position child : tree.children(me)) {
    const Rank rank = problem.rank_at(child);
    schedule.put(rank, vector);
    schedule.put_description(rank);
    schedule.wait(schedule.flush(rank));
    schedule.notify(rank, vector);
    schedule.wait(schedule.flush(rank));
  }
  return with_done_counter(schedule, problem, awaited);
}

}  // namespace tutti
