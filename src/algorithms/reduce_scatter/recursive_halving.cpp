/// Reduce_scatter by recursive halving.
#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// The allgather by recursive doubling backwards: in each round a group and the group at half the
/// distance of the round before exchange their contributions to the other's half.
///
///     p = 6    1>0 {0 .. 5} 3>2 {0 .. 5}    0<>4 2<>5    0<>2 4<>5    0>1 {1} 2>3 {3}
///
/// log2 p rounds for a power of two, (p - 1) m beta (Thakur, Rabenseifner & Gropp 2005, section
/// 4.4). For other p the pairs' second positions send all contributions first and receive their
/// block at the end. Combines groups that are not neighbours, so the operation must commute.
Schedule reduce_scatter_recursive_halving(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const BlockRange all = {0, problem.p};
  if (!folded.leads(me)) {
    const Rank leader = problem.rank_at(other);
    schedule.send(leader, all);
    schedule.recv(leader, {me, me + 1});
    return schedule.done();
  }
  if (other >= 0) schedule.reduce(problem.rank_at(other), all, Operand::right);
  const int group = folded.group_of(me);
  for (int distance = folded.groups() / 2; distance >= 1; distance /= 2) {
    const int mine = group & ~(distance - 1);
    const int theirs = mine ^ distance;
    const Rank peer = problem.rank_at(folded.leader(group ^ distance));
    schedule.send(peer, folded.positions(theirs, theirs + distance));
    schedule.reduce(peer, folded.positions(mine, mine + distance),
                    theirs < mine ? Operand::left : Operand::right);
  }
  if (other >= 0) schedule.send(problem.rank_at(other), {other, other + 1});
  return schedule.done();
}

}  // namespace tutti
