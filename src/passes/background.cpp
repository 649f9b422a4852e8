/// Choosing the runner of each step.
#include "passes/background.hpp"

namespace tutti {

Schedule in_background(Schedule schedule) {
  const bool at_root = schedule.rank == schedule.root;
  for (Step& step : schedule.steps) {
    if (step.kind == StepKind::wait) continue;  // holds for both runners
    const bool receives_blocks = step.kind == StepKind::recv && step.bytes > 0;
    const bool early = is_gather(schedule.collective) ? at_root || receives_blocks : !at_root;
    step.runner = early ? Runner::background : Runner::caller;
  }
  return schedule;
}

}  // namespace tutti
