/// Ring reduce_scatter: each block goes once around the ring; every rank combines and forwards it.
#include "schedule/builder.hpp"

namespace tutti {

/// Block b starts at position b + 1 and ends at position b:
///
///     p = 4    0>1 {3} 1>2 {0} 2>3 {1} 3>0 {2}    0>1 {2} 1>2 {3} ..    0>1 {1} 1>2 {2} ..
///
/// (p - 1)(alpha + m beta) with minimal volume. Combines in a cyclic sequence.
Schedule reduce_scatter_ring(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const Position before = (me + p - 1) % p;
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (before - round + p) % p;
    const Position in = (before - round - 1 + 2 * p) % p;
    schedule.send(problem.rank_at((me + 1) % p), {out, out + 1});
    schedule.reduce(problem.rank_at(before), {in, in + 1}, Operand::left);
  }
  return schedule.done();
}

}  // namespace tutti
