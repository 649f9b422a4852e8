/// Linear gather: everyone sends to the root, all receives in flight at once.
#include "schedule/builder.hpp"

namespace tutti {

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// The root receives p - 1 messages in whatever sequence they come.
Schedule gather_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.send(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position from = 1; from < problem.p; ++from) {
    schedule.recv(problem.rank_at(from), {from, from + 1});
  }
  return schedule.done();
}

}  // namespace tutti
