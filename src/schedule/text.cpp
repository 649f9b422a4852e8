/// Writes schedules as text.
#include <array>

#include "schedule/schedule.hpp"

namespace tutti {

namespace {

constexpr std::array<std::string_view, 9> kinds = {"send", "recv",  "copy",   "reduce", "wait",
                                                   "put",  "flush", "notify", "await"};
constexpr std::array<std::string_view, 3> operands = {"left", "right", "only"};

std::string to_text(BlockRange range) {
  return "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
}

std::string to_text(const Step& step) {
  std::string text(name_of(step.kind));
  if (step.kind == StepKind::wait) {
    return text + " " + std::to_string(step.first) + "-" + std::to_string(step.last);
  }
  text += " " + std::to_string(step.peer) + " " + to_text(step.blocks.range) + " " +
          std::to_string(step.bytes);
  if (!step.blocks.holes.empty()) {
    text += " without";
    for (const BlockRange& hole : step.blocks.holes) text += " " + to_text(hole);
  }
  if (step.offset != 0) text += " from " + std::to_string(step.offset);
  if (step.after >= 0) text += " after " + std::to_string(step.after);
  if (step.slots != 0) text += " slots " + std::to_string(step.slots);
  if (step.carries) text += " carried";
  if (step.staged) text += " staged";
  if (step.kind == StepKind::reduce)
    text += " " + std::string(operands[static_cast<std::size_t>(step.operand)]);
  if (step.runner == Runner::background) text += " background";
  return text;
}

}  // namespace

std::string_view name_of(StepKind kind) { return kinds[static_cast<std::size_t>(kind)]; }

std::string to_text(const Schedule& schedule) {
  std::string text(name_of(schedule.collective));
  text += " p " + std::to_string(schedule.p) + " rank " + std::to_string(schedule.rank) + " root " +
          std::to_string(schedule.root) +
          (schedule.parts == 1 ? "" : " parts " + std::to_string(schedule.parts)) + "\n";
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    text += std::to_string(i) + " " + to_text(schedule.steps[i]) + "\n";
  }
  return text;
}

}  // namespace tutti
