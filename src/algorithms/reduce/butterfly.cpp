/// Reduce by recursive halving.
#include "algorithms/butterfly.hpp"

namespace tutti {

/// A reduce_scatter by recursive halving of the vector's parts, one part per group, then a binomial
/// gather of the parts to the root (Rabenseifner 2004):
///
///     p = 6, root 0    1>0 3>2    0<>4 2<>5 halves    0<>2 4<>5 quarters    2>0 5>4    4>0
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before: alpha + m beta more. The operation must commute.
Schedule reduce_scatter_gather(const Problem& problem) {
  const Folded folded(problem.p);
  const Problem cut = problem.cut(folded.groups());
  ScheduleBuilder schedule(cut);
  if (!reduce_parts_along<Hypercube>(schedule, problem, folded)) return schedule.done();
  const Hypercube cube(folded.groups());
  const int group = folded.group_of(problem.position());
  for (int step = 0; step < cube.steps(); ++step) {
    const int partner = cube.partner(group, step);
    const Rank peer = problem.rank_at(folded.leader(partner));
    if (partner < group) {
      schedule.send(peer, schedule.cyclic(cube.first_held(group, step), 1 << step));
      break;
    }
    schedule.recv(peer, schedule.cyclic(cube.first_held(partner, step), 1 << step));
  }
  return schedule.done();
}

}  // namespace tutti
