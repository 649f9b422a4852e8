/// Scan and exscan along a chain of the ranks.
#include "algorithms/pipeline.hpp"
#include "schedule/builder.hpp"

namespace tutti {

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
