/// Allgather along a Bine butterfly.
#include "shapes/bine.hpp"

#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// In step j groups at distance 1, -1, 3, -5, 11, .. exchange all blocks that they have, which form
/// a cyclic range (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 8    0<>1 2<>3 4<>5 6<>7    0<>7 2<>1 4<>3 6<>5    0<>3 2<>5 4<>7 6<>1
///
/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
Schedule allgather_bine(const Problem& problem) {
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
  const BineButterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = 0; step < butterfly.steps(); ++step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    const auto held = [&](int by) {
      return folded.cyclic(butterfly.first_held(by, step), 1 << step);
    };
    schedule.send_cyclic(peer, held(group).begin, held(group).count());
    schedule.recv_cyclic(peer, held(partner).begin, held(partner).count());
  }
  if (other >= 0) {
    schedule.send(problem.rank_at(other), all_but(other), schedule.bytes(all_but(other)));
  }
  return schedule.done();
}

}  // namespace tutti
