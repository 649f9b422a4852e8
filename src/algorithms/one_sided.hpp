/// What the one-sided collectives have in common: asking and serving children, and the end.
#pragma once

#include <vector>

#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// The same on a tree of another k: 2 for the binomial one, at least p for one whose root has all
/// others as its children.
[[nodiscard]] inline Problem with_k(Problem problem, int k) {
  problem.parameters.k = k;
  return problem;
}

/// Puts a part into the memory of all children at once, then tells each of them as soon as a flush
/// has ended its put: notifications may overtake puts. What fits into a notification travels in it
/// and needs neither put nor flush. The first of `children` is served first. All that comes after
/// `awaited`, by which the rank has heard of the part, also of one without bytes; none at the root.
void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Position>& children, StepId awaited);

/// Where data flow to the root: awaits the question of the parent in the tree and passes it on, to
/// the largest subtree first. Returns the await, or none at the root.
StepId ask_along(ScheduleBuilder& schedule, const Problem& problem, const Knomial& tree);

/// The schedule, at whose end the root awaits that every rank is done; all others tell it so once
/// `awaited`, their last await, has completed. They do all in the background: their programs do not
/// call.
[[nodiscard]] Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem,
                                         StepId awaited);

}  // namespace tutti
