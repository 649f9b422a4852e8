/// Gather along the ordered tree built from the sizes.
#include "schedule/builder.hpp"

namespace tutti {

/// Every subtree is a range of ranks, so data arrives in rank order (Träff 2017, section 2;
/// protocols/ordered_tree.hpp draws the tree). All receives are in flight at once; subtrees are
/// served as they become ready.
Schedule gather_ordered_tree(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  for (const Subtree& child : tree.children) {
    schedule.recv(child.root, Blocks(child.blocks, child.holes), child.bytes);
  }
  if (tree.parent != no_rank) {
    schedule.send(tree.parent, Blocks(tree.self.blocks, tree.self.holes), tree.self.bytes);
  }
  return schedule.done();
}

}  // namespace tutti
