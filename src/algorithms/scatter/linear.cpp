/// Linear scatter: the root sends to everyone, all sends in flight at once.
#include "schedule/builder.hpp"

namespace tutti {

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
Schedule scatter_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.recv(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    schedule.send(problem.rank_at(to), {to, to + 1});
  }
  return schedule.done();
}

}  // namespace tutti
