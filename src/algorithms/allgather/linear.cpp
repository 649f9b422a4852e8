/// Linear allgather: every rank sends to every other rank.
#include "schedule/builder.hpp"

namespace tutti {

/// Position v sends to v + 1, v + 2, .. and receives from v - 1, v - 2, .., so no two ranks begin
/// with the same receiver. p - 1 messages from each rank, those of up to 8 distances in flight at
/// once.
Schedule allgather_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  FewRounds rounds(schedule);
  for (int distance = 1; distance < problem.p; ++distance) {
    const Position from = (me - distance + problem.p) % problem.p;
    const StepId sent = schedule.send(problem.rank_at((me + distance) % problem.p), {me, me + 1});
    rounds.add(schedule.recv(problem.rank_at(from), {from, from + 1}), sent);
  }
  return schedule.done();
}

}  // namespace tutti
