/// Linear gather in sequence: the root receives from one rank after the other.
#include "schedule/builder.hpp"

namespace tutti {

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in
/// the order.
Schedule gather_linear_sequence(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.send(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position from = 1; from < problem.p; ++from) {
    schedule.wait(schedule.recv(problem.rank_at(from), {from, from + 1}));
  }
  return schedule.done();
}

}  // namespace tutti
