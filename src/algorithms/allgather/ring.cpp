/// Ring allgather: each block goes once around the ring.
#include "schedule/builder.hpp"

namespace tutti {

/// Position v receives from v - 1 and passes on to v + 1, its own block first:
///
///     p = 4    0>1 {0} 1>2 {1} 2>3 {2} 3>0 {3}    0>1 {3} 1>2 {0} ..    0>1 {2} 1>2 {3} ..
///
/// (p - 1)(alpha + m beta) with minimal volume; if blocks differ, the largest counts p - 1 times.
/// With the background runner it is BDR (Proficz 2021): blocks of early ranks go around before late
/// ranks arrive, and only a rank's own block waits for its rank.
Schedule allgather_ring(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const Position before = (me + p - 1) % p;
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (me - round + p) % p;
    const Position in = (before - round + p) % p;
    schedule.send(problem.rank_at((me + 1) % p), {out, out + 1});
    schedule.recv(problem.rank_at(before), {in, in + 1});
  }
  return schedule.done();
}

}  // namespace tutti
