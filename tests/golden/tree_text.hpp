/// Trees as text, as in the comments of the sources.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// A tree of nodes with any integers as names.
struct TreeShape {
  int root = 0;
  std::function<std::vector<int>(int)> children;
  std::function<std::string(int)> label;
};

/// One line per leaf, the first child beside its parent and the others below it.
///
///     0 -+- 1
///        +- 2 --- 3
inline std::string to_text(const TreeShape& tree) {
  std::string text;
  // `indent` is the text to the left of a node's children on the lines after the node's own.
  const auto draw = [&](const auto& self, int node, std::string indent) -> void {
    const std::string label = tree.label(node);
    const std::vector<int> children = tree.children(node);
    text += children.empty() ? label + "\n" : label;
    indent.append(label.size() + 2, ' ');
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool last = i + 1 == children.size();
      text += i > 0 ? indent + "+- " : last ? " --- " : " -+- ";
      self(self, children[i], indent + (last ? "   " : "|  "));
    }
  };
  draw(draw, tree.root, "");
  return text;
}

/// The edges along which data flows: to the root if it flows there, else away from it. Requires
/// that they form a tree. With bytes, "3:12" is rank 3 and the bytes on the edge above it.
inline std::string drawn(const std::vector<Schedule>& schedules, bool with_bytes) {
  const Schedule& first = schedules.front();
  const StepKind kind = flows_to_root(first.collective) ? StepKind::recv : StepKind::send;
  std::vector<std::vector<int>> children(schedules.size());
  std::map<int, Bytes> above;
  for (const Schedule& schedule : schedules) {
    for (const Step& step : schedule.steps) {
      if (step.kind != kind || step.bytes == 0) continue;
      if (!above.contains(step.peer)) {
        children[static_cast<std::size_t>(schedule.rank)].push_back(step.peer);
      }
      above[step.peer] += step.bytes;
    }
  }
  return to_text({first.root, [&](int rank) { return children[static_cast<std::size_t>(rank)]; },
                  [&](int rank) {
                    const bool plain = rank == first.root || !with_bytes;
                    return std::to_string(rank) + (plain ? "" : ":" + std::to_string(above[rank]));
                  }});
}

}  // namespace tutti
