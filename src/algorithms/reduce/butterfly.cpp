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
  const Problem cut = problem.cut(Folded(problem.p).groups());
  ScheduleBuilder schedule(cut);
  return among_leaders(schedule, problem, BlockRange{0, cut.parts}, {}, [&] {
    Exchanges<Hypercube> exchanges(schedule, problem);
    exchanges.reduce_scatter();
    exchanges.gather();
  });
}

}  // namespace tutti
