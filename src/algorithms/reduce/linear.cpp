/// Linear reduce: all ranks send to the root, which combines in the sequence of ranks.
#include "schedule/builder.hpp"

namespace tutti {

/// The root combines lower ranks into its contribution from the left, then higher ranks from the
/// right:
///
///     p = 5, root 2    1 op 2    0 op (1 2)    (0 1 2) op 3    (0 1 2 3) op 4
///
/// All p - 1 messages are in flight at once; (p - 1)(alpha + m beta) and as many combinations.
Schedule reduce_linear(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  if (!problem.at_root()) {
    schedule.send(problem.root, vector);
    return schedule.done();
  }
  for (Rank from = problem.root - 1; from >= 0; --from) {
    schedule.reduce(from, vector, Operand::left);
  }
  for (Rank from = problem.root + 1; from < problem.p; ++from) {
    schedule.reduce(from, vector, Operand::right);
  }
  return schedule.done();
}

}  // namespace tutti
