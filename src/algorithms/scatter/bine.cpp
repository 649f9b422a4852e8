/// Scatter along a Bine tree.
#include "shapes/bine.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// The Bine gather backwards: a position receives its subtree from its parent, then sends its
/// children theirs, the largest first (De Sensi et al. 2025, section 4):
///
///     p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// ceil(log2 p) alpha + (p - 1) m beta for any p.
Schedule scatter_bine(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const BineTree::Node node = BineTree(problem.p).at(problem.position());
  if (!problem.at_root()) schedule.recv(problem.rank_at(node.parent), node.range);
  for (const auto& child : node.children) {
    schedule.send(problem.rank_at(child.root), child.range);
  }
  return schedule.done();
}

}  // namespace tutti
