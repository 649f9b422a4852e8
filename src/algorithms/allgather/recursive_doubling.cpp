/// Allgather by recursive doubling.
#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// In round d group g and group g xor 2^d exchange all blocks that they have, which form a range:
///
///     p = 6    1>0 {1} 3>2 {3}    0<>2 4<>5    0<>4 2<>5    0>1 {0 2 3 4 5} 2>3 {0 1 2 4 5}
///
/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
Schedule allgather_recursive_doubling(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  const Position me = problem.position();
  const Position other = folded.other(me);
  const auto all_but = [&](Position v) { return Blocks({0, problem.p}, {{v, v + 1}}); };
  if (!folded.leads(me)) {
    const Rank leader = problem.rank_at(other);
    schedule.send(leader, {me, me + 1});
    schedule.recv(leader, all_but(me), schedule.bytes(all_but(me)));
    return schedule.done();
  }
  if (other >= 0) schedule.recv(problem.rank_at(other), {other, other + 1});
  const int group = folded.group_of(me);
  for (int distance = 1; distance < folded.groups(); distance *= 2) {
    const int mine = group & ~(distance - 1);
    const int theirs = mine ^ distance;
    const Rank peer = problem.rank_at(folded.leader(group ^ distance));
    schedule.send(peer, folded.positions(mine, mine + distance));
    schedule.recv(peer, folded.positions(theirs, theirs + distance));
  }
  if (other >= 0) {
    schedule.send(problem.rank_at(other), all_but(other), schedule.bytes(all_but(other)));
  }
  return schedule.done();
}

}  // namespace tutti
