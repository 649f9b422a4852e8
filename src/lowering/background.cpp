/// Chooses the runner of each step.
#include "lowering/background.hpp"

namespace tutti {

namespace {

/// The rule for gathers and scatters, whose signals also announce arrivals.
bool starts_early_in_gather_scatter(const Schedule& schedule, const Step& step) {
  const bool at_root = schedule.rank == schedule.root;
  const bool receives_blocks = step.kind == StepKind::recv && step.bytes > 0;
  return is_gather(schedule.collective) ? at_root || receives_blocks : !at_root;
}

/// True if the rank at `position` contributes some block of the step.
bool holds_own_data(const Schedule& schedule, const Step& step, Position position) {
  bool found = false;
  step.blocks.for_each_run([&](BlockRange run) {
    if (block_kind(schedule.collective) == BlockKind::pairs) {
      const BlockIndex first = BlockIndex{position} * schedule.p;
      found = found || run.overlaps({first, first + schedule.p});
    } else {
      found = found || run.contains(position);
    }
  });
  return found;
}

bool starts_before_arrival(const Schedule& schedule, const Step& step, Position position) {
  if (is_gather_or_scatter(schedule.collective))
    return starts_early_in_gather_scatter(schedule, step);
  if (is_one_sided(schedule.collective)) return schedule.rank != schedule.root;
  if (schedule.collective == Collective::bcast) {
    // A request announces that its rank has arrived.
    return schedule.rank != schedule.root && (step.kind != StepKind::send || step.bytes > 0);
  }
  if (step.bytes == 0) return position == 0 && schedule.collective != Collective::barrier;
  if (step.kind == StepKind::recv) return step.staged || !reduces(schedule.collective);
  return !reduces(schedule.collective) && !holds_own_data(schedule, step, position);
}

}  // namespace

Schedule in_background(Schedule schedule, Position position) {
  for (Step& step : schedule.steps) {
    if (step.kind == StepKind::wait) continue;  // applies to both runners
    step.runner =
        starts_before_arrival(schedule, step, position) ? Runner::background : Runner::caller;
  }
  return schedule;
}

}  // namespace tutti
