/// One-sided broadcast of large vectors: their parts follow one another down a tree.
#include "algorithms/one_sided.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

namespace {

/// The tree in which position v has up to k children from v k + 1 on, by levels:
///
///     p = 6, k = 2
///         0 -+- 1 -+- 3
///            |     +- 4
///            +- 2 --- 5
Schedule pipelined(const Problem& problem, int k) {
  const Problem cut = problem.cut(pipeline_parts(problem));
  ScheduleBuilder schedule(cut);
  const Position me = problem.position();
  StepId awaited = ScheduleBuilder::none;
  std::vector<Position> children;
  for (int i = 1; i <= k && me * k + i < problem.p; ++i) children.push_back(me * k + i);
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange blocks = {part, part + 1};
    if (me != 0) {  // parts are told of one after the other
      const StepId before = awaited;
      awaited = schedule.await(problem.rank_at((me - 1) / k), blocks);
      schedule.after(awaited, before);
    }
    serve_together(schedule, problem, blocks, children, awaited);
  }
  return with_done_counter(schedule, problem, awaited);
}

}  // namespace

/// n + p - 2 stages of a part each.
Schedule rma_bcast_chain(const Problem& problem) { return pipelined(problem, 1); }

/// About 2 (n + log2 p) stages: twice the vector leaves each inner rank.
Schedule rma_bcast_binary(const Problem& problem) { return pipelined(problem, 2); }

}  // namespace tutti
