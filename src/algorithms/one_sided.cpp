/// Serving children one-sidedly.
#include "algorithms/one_sided.hpp"

#include "passes/background.hpp"

namespace tutti {

void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Position>& children) {
  const bool carried = schedule.bytes(part) <= problem.parameters.carry;
  for (const Position child : children) {
    const Rank rank = problem.rank_at(child);
    if (carried) {
      schedule.notify_with(rank, part);
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
