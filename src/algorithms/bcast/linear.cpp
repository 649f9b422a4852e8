/// Linear broadcast: the root sends to everyone, all at once, one after the other, or as asked.
#include "schedule/builder.hpp"

namespace tutti {

namespace {

constexpr BlockRange vector = {0, 1};

Schedule linear(const Problem& problem, bool in_sequence) {
  ScheduleBuilder schedule(problem);
  if (!problem.at_root()) {
    schedule.recv(problem.root, vector);
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    const StepId step = schedule.send(problem.rank_at(to), vector);
    if (in_sequence) schedule.wait(step);
  }
  return schedule.done();
}

}  // namespace

/// (p - 1)(alpha + m beta); all p - 1 sends are in flight at once.
Schedule bcast_linear(const Problem& problem) { return linear(problem, false); }

/// One late rank holds up all that follow it in the order.
Schedule bcast_linear_sequence(const Problem& problem) { return linear(problem, true); }

/// A rank announces itself with a message without bytes, and the root serves whoever has come, at
/// most `flight` at once: the online half of Patarasuk and Yuan's broadcast (2008), without their
/// passing on along the list of those that have come.
Schedule bcast_linear_pull(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  if (schedule.bytes(vector) == 0) return schedule.done();
  if (!problem.at_root()) {
    schedule.signal(problem.root);
    schedule.recv(problem.root, vector);
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    const StepId announced = schedule.await_signal(problem.rank_at(to));
    const StepId sent = schedule.send(problem.rank_at(to), vector);
    schedule.after(sent, announced);
    schedule.limit(sent, problem.parameters.flight);
  }
  return schedule.done();
}

}  // namespace tutti
