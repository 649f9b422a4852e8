/// Linear scatter: the root sends to everyone, all at once or one after the other.
#include "schedule/builder.hpp"

namespace tutti {

namespace {

Schedule linear(const Problem& problem, bool in_sequence) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.recv(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    const StepId step = schedule.send(problem.rank_at(to), {to, to + 1});
    if (in_sequence) schedule.wait(step);
  }
  return schedule.done();
}

}  // namespace

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// All p - 1 sends are in flight at once.
Schedule scatter_linear(const Problem& problem) { return linear(problem, false); }

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in the
/// order.
Schedule scatter_linear_sequence(const Problem& problem) { return linear(problem, true); }

}  // namespace tutti
