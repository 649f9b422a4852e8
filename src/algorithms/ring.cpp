/// Rings: each block goes once around.
#include "algorithms/parts.hpp"

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
  FewRounds rounds(schedule);
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (me - round + p) % p;
    const Position in = (before - round + p) % p;
    schedule.send(problem.rank_at((me + 1) % p), {out, out + 1});
    rounds.add(schedule.recv(problem.rank_at(before), {in, in + 1}));
  }
  return schedule.done();
}

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
  FewRounds rounds(schedule);
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (before - round + p) % p;
    const Position in = (before - round - 1 + 2 * p) % p;
    schedule.send(problem.rank_at((me + 1) % p), {out, out + 1});
    const StepId received = schedule.recv_staged(problem.rank_at(before), BlockRange{in, in + 1});
    rounds.add(received);
    schedule.combine(received, Operand::left);
  }
  return schedule.done();
}

/// 2 (p - 1) alpha + 2 (p - 1) / p m beta, with minimal volume (Patarasuk & Yuan 2009).
Schedule allreduce_ring(const Problem& problem) {
  return in_parts_of_ranks(problem, reduce_scatter_ring, allgather_ring);
}

}  // namespace tutti
