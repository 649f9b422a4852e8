/// Writing GOAL.
#include "draw/goal.hpp"

#include <algorithm>

#include "draw/messages.hpp"

namespace tutti {

namespace {

std::string to_goal(const Step& step) {
  if (step.kind == StepKind::send || step.kind == StepKind::recv) {
    return (step.kind == StepKind::send ? "send " : "recv ") +
           std::to_string(std::max<Bytes>(step.bytes, 1)) + "b " +
           (step.kind == StepKind::send ? "to " : "from ") + std::to_string(step.peer) + " tag 0";
  }
  return "calc 0";
}

}  // namespace

std::string to_goal(std::span<const Schedule> schedules) {
  std::string text = "num_ranks " + std::to_string(schedules.size()) + "\n";
  for (const Schedule& schedule : schedules) {
    text += "\nrank " + std::to_string(schedule.rank) + " {\n";
    const auto required = needs(schedule);
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      const std::string label = "l" + std::to_string(i);
      text += label + ": " + to_goal(schedule.steps[i]) + "\n";
      for (const StepId need : required[i]) {
        text += label + " requires l" + std::to_string(need) + "\n";
      }
    }
    text += "}\n";
  }
  return text;
}

}  // namespace tutti
