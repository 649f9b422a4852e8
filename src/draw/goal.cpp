/// Writes GOAL.
#include "draw/goal.hpp"

#include <algorithm>
#include <vector>

#include "schedule/graph.hpp"
#include "schedule/one_sided.hpp"

namespace tutti {

namespace {

std::string operation(const Step& step) {
  if (step.kind != StepKind::send && step.kind != StepKind::recv) return "calc 0";
  const bool sends = step.kind == StepKind::send;
  return std::string(sends ? "send " : "recv ") + std::to_string(std::max<Bytes>(step.bytes, 1)) +
         (sends ? "b to " : "b from ") + std::to_string(step.peer) + " tag 0";
}

/// One rank's operations, each followed by its requirements.
std::string block(const StepGraph& graph, Rank rank,
                  const std::vector<std::vector<StepId>>& writers) {
  std::string text = "\nrank " + std::to_string(rank) + " {\n";
  StepId last_wait = -1;
  for (StepId id = 0; id < graph.steps(rank); ++id) {
    const Step& step = graph.step(graph.node(rank, id));
    const std::string label = "l" + std::to_string(id);
    text += label + ": " + operation(step) + "\n";
    const auto require = [&](StepId need) {
      text += label + " requires l" + std::to_string(need) + "\n";
    };
    if (last_wait >= 0) require(last_wait);
    for (const StepId writer : writers[static_cast<std::size_t>(id)]) {
      require(writer);
    }
    if (step.kind != StepKind::wait) continue;
    for (StepId named = step.first; named < step.last; ++named) {
      if (named != last_wait && named != id) require(named);
    }
    last_wait = id;
  }
  return text + "}\n";
}

}  // namespace

Result<std::string> to_goal(std::span<const Schedule> schedules) {
  if (has_one_sided_steps(schedules)) return to_goal(as_messages(schedules));
  StepGraph graph;
  if (const auto flaw = graph.build(schedules)) {
    return Error{"rank " + std::to_string(flaw->rank) + ", step " + std::to_string(flaw->step) +
                 ": " + flaw->text};
  }
  std::string text = "num_ranks " + std::to_string(schedules.size()) + "\n";
  for (Rank rank = 0; rank < graph.p(); ++rank) {
    std::vector<std::vector<StepId>> writers(static_cast<std::size_t>(graph.steps(rank)));
    for (StepId id = 0; id < graph.steps(rank); ++id) {
      graph.for_each_reader(graph.node(rank, id), [&](StepGraph::Node reader) {
        writers[static_cast<std::size_t>(graph.step_of(reader))].push_back(id);
      });
    }
    text += block(graph, rank, writers);
  }
  return text;
}

}  // namespace tutti
