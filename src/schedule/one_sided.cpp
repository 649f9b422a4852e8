/// Replaces one-sided steps by messages.
#include "schedule/one_sided.hpp"

#include <algorithm>

namespace tutti {

bool has_one_sided_steps(std::span<const Schedule> schedules) {
  return std::any_of(schedules.begin(), schedules.end(), [](const Schedule& schedule) {
    return std::any_of(schedule.steps.begin(), schedule.steps.end(),
                       [](const Step& step) { return is_one_sided(step.kind); });
  });
}

std::vector<Schedule> as_messages(std::span<const Schedule> schedules) {
  std::vector<Schedule> all(schedules.begin(), schedules.end());
  for (Schedule& schedule : all) {
    for (Step& step : schedule.steps) {
      step.carries = false;
      if (!is_one_sided(step.kind)) continue;
      const bool has_bytes = step.bytes > 0;
      if (step.kind == StepKind::notify && has_bytes) {
        step.kind = StepKind::send;
      } else if (step.kind == StepKind::await && has_bytes) {
        step.kind = StepKind::recv;
      } else {
        step.kind = StepKind::copy;
        step.peer = no_rank;
      }
    }
  }
  return all;
}

}  // namespace tutti
