/// Linear scatter in sequence: the root sends to one rank after the other.
#include "schedule/builder.hpp"

namespace tutti {

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in
/// the order.
Schedule scatter_linear_sequence(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.recv(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    schedule.wait(schedule.send(problem.rank_at(to), {to, to + 1}));
  }
  return schedule.done();
}

}  // namespace tutti
