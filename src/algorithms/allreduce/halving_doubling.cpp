/// Allreduce by recursive halving and doubling.
#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// A reduce_scatter by recursive halving of the vector's parts, one part per group, then an
/// allgather of the parts by recursive doubling (Rabenseifner 2004):
///
///     p = 6    1>0 3>2    0<>4 2<>5 halves    0<>2 4<>5 quarters    and back    0>1 2>3
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more. Combines groups
/// that are not neighbours, so the operation must commute.
Schedule allreduce_halving_doubling(const Problem& problem) {
  const Folded folded(problem.p);
  const Problem cut = problem.cut(folded.groups());
  ScheduleBuilder schedule(cut);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const BlockRange all = {0, folded.groups()};
  if (!folded.leads(me)) {
    schedule.send(problem.rank_at(other), all);
    schedule.recv(problem.rank_at(other), all);
    return schedule.done();
  }
  if (other >= 0) schedule.reduce(problem.rank_at(other), all, Operand::right);
  const int group = folded.group_of(me);
  const auto parts = [](int first, int count) { return BlockRange{first, first + count}; };
  for (int distance = folded.groups() / 2; distance >= 1; distance /= 2) {
    const int mine = group & ~(distance - 1);
    const Rank peer = problem.rank_at(folded.leader(group ^ distance));
    schedule.send(peer, parts(mine ^ distance, distance));
    schedule.reduce(peer, parts(mine, distance), Operand::right);
  }
  for (int distance = 1; distance < folded.groups(); distance *= 2) {
    const int mine = group & ~(distance - 1);
    const Rank peer = problem.rank_at(folded.leader(group ^ distance));
    schedule.send(peer, parts(mine, distance));
    schedule.recv(peer, parts(mine ^ distance, distance));
  }
  if (other >= 0) schedule.send(problem.rank_at(other), all);
  return schedule.done();
}

}  // namespace tutti
