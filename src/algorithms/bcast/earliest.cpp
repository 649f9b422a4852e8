/// Broadcast along the tree built from the arrivals.
#include "schedule/builder.hpp"

namespace tutti {

/// The informed rank that is free first sends to the uninformed rank that arrives first
/// (shapes/informed.hpp draws the tree). Ranks that arrive together form a binomial tree; one late
/// rank receives the vector within alpha + m beta of its arrival.
Schedule bcast_earliest(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  if (problem.tree.parent != no_rank) schedule.recv(problem.tree.parent, vector);
  for (const Subtree& child : problem.tree.children) schedule.send(child.root, vector);
  return schedule.done();
}

}  // namespace tutti
