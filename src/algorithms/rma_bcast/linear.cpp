/// Linear one-sided broadcast: the root reaches every rank's memory itself.
#include "algorithms/one_sided.hpp"

namespace tutti {

/// p - 1 puts from the root, one gap apart (Paznikov 2024, section 1.1); with LogGP, each put takes
/// the root max(g, (m - 1) G), then follow a flush and a notification.
Schedule rma_bcast_linear(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  StepId awaited = ScheduleBuilder::none;
  std::vector<Position> children;
  if (problem.at_root()) {
    for (Position other = 1; other < problem.p; ++other) children.push_back(other);
  } else {
    awaited = schedule.await(problem.root, vector);
  }
  serve_together(schedule, problem, vector, children, awaited);
  return with_done_counter(schedule, problem, awaited);
}

}  // namespace tutti
