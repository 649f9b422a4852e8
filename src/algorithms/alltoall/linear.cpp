/// Linear and pairwise alltoall: every block goes directly from its source to its destination.
#include "schedule/builder.hpp"

namespace tutti {

namespace {

Schedule direct(const Problem& problem, bool in_rounds) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  FewRounds rounds(schedule);
  for (int distance = 1; distance < p; ++distance) {
    const Position to = (me + distance) % p;
    const Position from = (me - distance + p) % p;
    const StepId received = schedule.recv(problem.rank_at(from), problem.pair(from, me));
    const StepId sent = schedule.send(problem.rank_at(to), problem.pair(me, to));
    if (in_rounds) {
      schedule.wait_all();
    } else {
      rounds.add(received, sent);
    }
  }
  return schedule.done();
}

}  // namespace

/// Sends and receives of up to 8 distances are in flight at once, the nearest positions first, so
/// no two ranks begin with the same receiver, and few messages come before their receive.
Schedule alltoall_linear(const Problem& problem) { return direct(problem, false); }

/// In round d position v sends to v + d and receives from v - d; a rank begins a round after both
/// messages of the round before:
///
///     p = 4    0>1 1>2 2>3 3>0    0>2 1>3 2>0 3>1    0>3 1>0 2>1 3>2
///
/// (p - 1)(alpha + m beta) if a rank sends and receives at the same time.
Schedule alltoall_pairwise(const Problem& problem) { return direct(problem, true); }

}  // namespace tutti
