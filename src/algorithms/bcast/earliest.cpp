/// Broadcast along the tree that follows the arrivals.
#include "schedule/builder.hpp"

namespace tutti {

/// Whoever is informed and free earliest sends to the earliest arrived rank that is not informed
/// (the tree is drawn in shapes/informed.hpp). Ranks that arrive together get a binomial tree; one
/// late rank gets the vector within alpha + m beta of its arrival.
Schedule bcast_earliest(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  if (problem.tree.parent != no_rank) schedule.recv(problem.tree.parent, vector);
  for (const Subtree& child : problem.tree.children) schedule.send(child.root, vector);
  return schedule.done();
}

}  // namespace tutti
