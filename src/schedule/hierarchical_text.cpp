/// Writes hierarchical plans as text.
#include <array>

#include "schedule/hierarchical_plan.hpp"

namespace tutti {

namespace {

std::string number(Bytes value) { return std::to_string(value); }

std::string range(Bytes begin, Bytes end) { return "[" + number(begin) + "," + number(end) + ")"; }

std::string in_words(const InnerBuffer& end) {
  constexpr std::array<std::string_view, 3> areas = {"node", "send", "receive"};
  std::string text = std::string(areas[static_cast<std::size_t>(end.area)]) + "+" + number(end.at);
  for (std::size_t i = 0; i < end.counts.size(); ++i) {
    text += " " + number(end.counts[i]);
  }
  return text;
}

std::string in_words(const InnerCall& call) {
  std::string text = std::string(name_of(call.collective)) + " on lane " + number(call.lane);
  if (has_root(call.collective)) text += " root " + number(call.root);
  if (!call.send.counts.empty()) text += " from " + in_words(call.send);
  if (!call.receive.counts.empty()) text += " to " + in_words(call.receive);
  return text;
}

std::string in_words(const HierarchicalPlan& plan, const HierarchicalStep& step) {
  const std::string node = "node " + range(step.at, step.at + step.bytes);
  const std::string side = "blocks " + range(step.blocks.begin, step.blocks.end) + " " +
                           range(step.offset, step.offset + step.bytes);
  switch (step.kind) {
    case HierarchicalStepKind::copy_in:
      return side + " to " + node;
    case HierarchicalStepKind::copy_out:
      return node + " to " + side;
    case HierarchicalStepKind::reduce:
      return "node " + range(step.from, step.from + step.bytes) + " into " + node;
    case HierarchicalStepKind::signal:
      return number(step.sequence);
    case HierarchicalStepKind::await:
      return number(step.sequence) + " of locals " + range(step.first, step.last);
    case HierarchicalStepKind::inner:
      break;
  }
  return in_words(plan.calls[static_cast<std::size_t>(step.call)]);
}

}  // namespace

std::string_view name_of(HierarchicalStepKind kind) {
  constexpr std::array<std::string_view, 6> names = {"copy_in", "copy_out", "reduce",
                                                     "signal",  "await",    "inner"};
  return names[static_cast<std::size_t>(kind)];
}

std::string to_text(const HierarchicalPlan& plan) {
  std::string text = std::string(name_of(plan.collective)) + " p " + number(plan.p) + " rank " +
                     number(plan.rank) + " node " + number(plan.node) + " local " +
                     number(plan.local) + " leaders " + number(plan.leaders) + " memory " +
                     number(plan.memory) + "\n";
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    text += std::to_string(i) + " " + std::string(name_of(plan.steps[i].kind)) + " " +
            in_words(plan, plan.steps[i]) + "\n";
  }
  return text;
}

}  // namespace tutti
