/// Linear gather: everyone sends to the root, all at once or one after the other.
#include "schedule/builder.hpp"

namespace tutti {

namespace {

Schedule linear(const Problem& problem, bool in_sequence) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    schedule.send(problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position from = 1; from < problem.p; ++from) {
    const StepId step = schedule.recv(problem.rank_at(from), {from, from + 1});
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
/// The root receives p - 1 messages in whatever sequence they come.
Schedule gather_linear(const Problem& problem) { return linear(problem, false); }

/// The papers' LIN (Proficz 2020, section 2.1): one late rank holds up all that follow it in the
/// order.
Schedule gather_linear_sequence(const Problem& problem) { return linear(problem, true); }

}  // namespace tutti
