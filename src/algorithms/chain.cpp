/// Pipelines along chains of ranks.
#include "algorithms/parts.hpp"

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

/// The vector's parts go from rank 0 upwards and from rank p - 1 downwards. Each rank combines its
/// own part on its own side, so any associative operation is valid:
///
///     p = 6, root 2    0 > 1 > 2 < 3 < 4 < 5
///
/// With l and s the hops of the longer and of the shorter chain: n + l - 1 rounds of alpha +
/// m / n beta if s = 0. Else max(n + l, 2 n + s) - 1, because the root receives every part twice;
/// where the operation commutes, `circulant` takes n - 1 + ceil(log2 p).
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

/// The vector's parts go from rank 0 upwards. Each rank combines them with its own before it passes
/// them on. An exscan keeps what it has received.
///
///     p = 6    0 > 1 > 2 > 3 > 4 > 5
///
/// n + p - 2 rounds of alpha + m / n beta for n parts.
Schedule scan_chain(const Problem& problem) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const Rank me = problem.rank;
  const bool is_last = me + 1 == problem.p;
  const bool is_inclusive = problem.collective == Collective::scan;
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange block = {part, part + 1};
    const StepId below = me > 0 ? schedule.recv_staged(me - 1, block) : ScheduleBuilder::none;
    if (is_inclusive || !is_last) schedule.combine(below, Operand::left);
    if (!is_last) schedule.send(me + 1, block);
    if (!is_inclusive) schedule.combine(below, Operand::only);
  }
  return schedule.done();
}

/// The chain with the whole vector as one part: p - 1 rounds of alpha + m beta.
Schedule scan_linear(const Problem& problem) {
  Problem whole = problem;
  whole.parameters.parts = 1;
  return scan_chain(whole);
}

}  // namespace tutti
