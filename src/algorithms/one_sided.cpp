/// Serving children one-sidedly.
#include "algorithms/one_sided.hpp"

#include <ranges>

#include "passes/background.hpp"

namespace tutti {

void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Position>& children, StepId awaited) {
  const bool carried = schedule.bytes(part) <= problem.parameters.carry;
  for (const Position child : children) {
    const Rank rank = problem.rank_at(child);
    if (carried) {
      schedule.after(schedule.notify_with(rank, part), awaited);
    } else {
      schedule.put(rank, part);
    }
  }
  if (carried) return;
  for (const Position child : children) {
    const Rank rank = problem.rank_at(child);
    const StepId flushed = schedule.flush(rank);
    schedule.after(schedule.notify(rank, part), flushed);
  }
}

StepId ask_along(ScheduleBuilder& schedule, const Problem& problem, const Knomial& tree) {
  const Position me = problem.position();
  StepId asked = ScheduleBuilder::none;
  if (me != 0) asked = schedule.await(problem.rank_at(tree.parent(me)), {});
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.after(schedule.notify(problem.rank_at(child), {}), asked);
  }
  return asked;
}

Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem, StepId awaited) {
  if (problem.at_root()) {
    for (Position other = 1; other < problem.p; ++other) {
      schedule.await(problem.rank_at(other), {});
    }
  } else {
    schedule.after(schedule.notify(problem.root, {}), awaited);
  }
  return in_background(schedule.done(), problem.position());
}

}  // namespace tutti
