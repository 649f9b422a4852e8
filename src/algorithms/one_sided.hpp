/// The common parts of one-sided collectives: trees, requests, serving children, and completion.
#pragma once

#include <functional>
#include <vector>

#include "protocols/fixed_tree.hpp"
#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// The neighbours of position v among n, as positions; children in the sequence in which they are
/// served. The root, position 0, has only children.
using TreeShape = std::function<TreeEdges(Position v, int n)>;

/// The k-nomial tree with the problem's k, large subtrees first.
[[nodiscard]] TreeShape knomial_shape(const Problem& problem);

/// The neighbours of the problem's rank in a tree. With `nodes`, the first rank of each node in the
/// order is its leader, on the root's node the root. Leaders form the tree, and serve the ranks of
/// their node after those of other nodes, so one message or put enters each node. O(p) with nodes.
[[nodiscard]] TreeEdges family_of(const Problem& problem, const TreeShape& shape);

/// Puts a part into the memory of all children, then notifies each child after a flush of its put,
/// because notifications may overtake puts. A part that fits into a notification travels in it,
/// without put and flush. Serves `children` in their sequence. Carried notifications come after
/// `awaited`, the await of the part, because a part may be empty; `awaited` is none at the root.
void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Rank>& children, StepId awaited);

/// Broadcasts the vector from the root to all windows along a tree, part after part: each position
/// awaits a part from its parent and serves its children.
[[nodiscard]] Schedule broadcast_along(const Problem& problem, const TreeShape& shape, int parts);

/// Collects data at the root of a k-nomial tree. A request goes down, to the largest subtree first;
/// then a position awaits its children's answers and sends its own to its parent. Notifications
/// carry the answers, because no window has room for them: 2 ceil(logk p) stages. Answers are the
/// blocks of a subtree; those of a reduction are vectors that a rank combines, and the operation
/// must commute. All ranks are done when the root has all answers.
[[nodiscard]] Schedule answer_along(const Problem& problem);

/// Completes the schedule: the root awaits a notification from every rank, which the rank sends
/// after `awaited`, its last await. All ranks but the root run in the background, because their
/// programs do not call.
[[nodiscard]] Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem,
                                         StepId awaited);

}  // namespace tutti
