/// Scatter along the ordered tree built from the sizes.
#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

/// The gather backwards over the same tree, in the same time (Träff 2017, section 2). A rank first
/// serves the child whose subtree takes longest to complete.
Schedule scatter_ordered_tree(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  if (tree.parent != no_rank) {
    schedule.recv(tree.parent, Blocks(tree.self.blocks, tree.self.holes), tree.self.bytes);
  }
  std::vector<Subtree> children = tree.children;
  std::stable_sort(children.begin(), children.end(),
                   [](const Subtree& a, const Subtree& b) { return a.ready > b.ready; });
  for (const Subtree& child : children) {
    schedule.send(child.root, Blocks(child.blocks, child.holes), child.bytes);
  }
  return schedule.done();
}

}  // namespace tutti
