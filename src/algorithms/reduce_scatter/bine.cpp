/// Reduce_scatter along a Bine butterfly.
#include "shapes/bine.hpp"

#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// The Bine allgather backwards: two groups exchange their contributions to the blocks that the
/// other has before this step of the allgather (De Sensi et al. 2025, section 4):
///
///     p = 8    0<>3 {2 3 4 5}<>{6 7 0 1} ..    0<>7 {6 7}<>{0 1} ..    0<>1 {1}<>{0} ..
///
/// log2 p rounds for a power of two, (p - 1) m beta. For other p the pairs' second positions send
/// all contributions first and receive their block at the end. Combines in a cyclic sequence.
Schedule reduce_scatter_bine(const Problem& problem) {
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
  const BineButterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    const auto kept = [&](int by) {
      return folded.cyclic(butterfly.first_held(by, step), 1 << step);
    };
    schedule.send_cyclic(peer, kept(partner).begin, kept(partner).count());
    schedule.reduce(peer, schedule.cyclic(kept(group).begin, kept(group).count()), Operand::right);
  }
  if (other >= 0) schedule.send(problem.rank_at(other), {other, other + 1});
  return schedule.done();
}

}  // namespace tutti
