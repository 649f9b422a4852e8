/// Allreduce along a Bine butterfly.
#include "shapes/bine.hpp"

#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

namespace tutti {

/// A reduce_scatter of the vector's parts, one part per group, then an allgather of the parts (De
/// Sensi et al. 2025, section 4):
///
///     p = 8    0<>3 halves    0<>7 quarters    0<>1 eighths    and back
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more. The operation
/// must commute.
Schedule allreduce_bine(const Problem& problem) {
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
  const BineButterfly butterfly(folded.groups());
  const int group = folded.group_of(me);
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    schedule.send_cyclic(peer, butterfly.first_held(partner, step), 1 << step);
    schedule.reduce(peer, schedule.cyclic(butterfly.first_held(group, step), 1 << step),
                    Operand::right);
  }
  for (int step = 0; step < butterfly.steps(); ++step) {
    const int partner = butterfly.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    schedule.send_cyclic(peer, butterfly.first_held(group, step), 1 << step);
    schedule.recv_cyclic(peer, butterfly.first_held(partner, step), 1 << step);
  }
  if (other >= 0) schedule.send(problem.rank_at(other), all);
  return schedule.done();
}

}  // namespace tutti
