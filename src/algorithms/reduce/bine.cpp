/// Reduce along a Bine tree.
#include "shapes/bine.hpp"

#include <ranges>

#include "schedule/builder.hpp"

namespace tutti {

/// The Bine broadcast backwards: a position combines the vectors of its children, smallest subtrees
/// first, and sends the result to its parent (De Sensi et al. 2025, section 4). Children are on
/// both sides of it, so the operation must commute. ceil(log2 p) (alpha + m beta) for any p.
Schedule reduce_bine(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const BineTree::Node node = BineTree(problem.p).at(problem.position());
  for (const auto& child : node.children | std::views::reverse) {
    schedule.reduce(problem.rank_at(child.root), vector, Operand::right);
  }
  if (!problem.at_root()) schedule.send(problem.rank_at(node.parent), vector);
  return schedule.done();
}

}  // namespace tutti
