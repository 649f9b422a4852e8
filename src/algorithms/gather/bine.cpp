/// Gather along a Bine tree.
#include "shapes/bine.hpp"

#include <ranges>

#include "schedule/builder.hpp"

namespace tutti {

/// A position receives the subtrees of its children, then sends its own subtree, which is a range,
/// to its parent (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 6, root 2
///         2 -+- 1 --- 0
///            +- 3 --- 4 --- 5
///
/// ceil(log2 p) alpha + (p - 1) m beta for any p.
Schedule gather_bine(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const BineTree::Node node = BineTree(problem.p).at(problem.position());
  for (const auto& child : node.children | std::views::reverse) {
    schedule.recv(problem.rank_at(child.root), child.range);
  }
  if (!problem.at_root()) schedule.send(problem.rank_at(node.parent), node.range);
  return schedule.done();
}

}  // namespace tutti
