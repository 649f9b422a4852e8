/// Pipelined broadcast along a chain.
#include "algorithms/pipeline.hpp"
#include "schedule/builder.hpp"

namespace tutti {

/// The vector goes from position to position in n parts; a position forwards each part at once:
///
///     p = 4, 3 parts    0 > 1    0 > 1, 1 > 2    0 > 1, 1 > 2, 2 > 3    1 > 2, 2 > 3    2 > 3
///                       part 0   1      0        2      1      0        2      1        2
///
/// n + p - 2 rounds of alpha + m / n beta.
Schedule bcast_chain(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const Position me = problem.position();
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange block = {part, part + 1};
    if (me > 0) schedule.recv(problem.rank_at(me - 1), block);
    if (me + 1 < problem.p) schedule.send(problem.rank_at(me + 1), block);
  }
  return schedule.done();
}

}  // namespace tutti
