/// Linear allgather: every rank sends to every other rank.
#include "schedule/builder.hpp"

namespace tutti {

/// Position v sends to v + 1, v + 2, .. and receives from v - 1, v - 2, .., so no two ranks begin
/// with the same receiver. p - 1 messages from each rank, all in flight at once.
Schedule allgather_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  for (int distance = 1; distance < problem.p; ++distance) {
    const Position from = (me - distance + problem.p) % problem.p;
    schedule.send(problem.rank_at((me + distance) % problem.p), {me, me + 1});
    schedule.recv(problem.rank_at(from), {from, from + 1});
  }
  return schedule.done();
}

}  // namespace tutti
