/// Replaces one-sided steps by messages.
#include "schedule/one_sided.hpp"

namespace tutti {

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
