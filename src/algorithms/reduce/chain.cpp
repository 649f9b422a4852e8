/// Pipelined reduce along two chains that meet at the root.
#include "algorithms/pipeline.hpp"
#include "schedule/builder.hpp"

namespace tutti {

/// The vector's parts go from rank 0 upwards and from rank p - 1 downwards. Each rank combines its
/// own part on its own side, so any associative operation is valid:
///
///     p = 6, root 2    0 > 1 > 2 < 3 < 4 < 5
///
/// n + max(root, p - 1 - root) - 1 rounds of alpha + m / n beta, one more if the root has two
/// chains.
Schedule reduce_chain(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const Rank me = problem.rank;
  const Rank root = problem.root;
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange block = {part, part + 1};
    if (0 < me && me <= root) schedule.reduce(me - 1, block, Operand::left);
    if (root <= me && me + 1 < problem.p) schedule.reduce(me + 1, block, Operand::right);
    if (me != root) schedule.send(me < root ? me + 1 : me - 1, block);
  }
  return schedule.done();
}

}  // namespace tutti
