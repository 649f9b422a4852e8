/// What the one-sided collectives have in common: trees, asking and serving children, and the end.
#pragma once

#include <functional>
#include <vector>

#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// A rank's place in a tree.
struct Family {
  Rank parent = no_rank;       ///< no_rank at the root
  std::vector<Rank> children;  ///< the first one is served first
};

/// The parent and the children of position v among n; of the root, position 0, the children alone.
struct Kin {
  Position parent = 0;
  std::vector<Position> children;
};
using Shape = std::function<Kin(Position v, int n)>;

/// The k-nomial tree of the problem's k, large subtrees first.
[[nodiscard]] Shape knomial_shape(const Problem& problem);

/// The place of the problem's rank in a tree. Where the tree is to be one of leaders and ranks
/// share nodes, the first one of each node in the order is its leader, at the root's node the root:
/// leaders form the tree, and serve the ranks of their node after those of other nodes. One
/// message, or put, enters each node. O(p) with nodes.
[[nodiscard]] Family family_of(const Problem& problem, const Shape& shape);

/// Puts a part into the memory of all children at once, then tells each of them as soon as a flush
/// has ended its put: notifications may overtake puts. What fits into a notification travels in it
/// and needs neither put nor flush. The first of `children` is served first. All that comes after
/// `awaited`, by which the rank has heard of the part, also of one without bytes; none at the root.
void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Rank>& children, StepId awaited);

/// The vector from the root to all windows along a tree, its parts one after the other: each
/// position awaits a part from its parent and serves its children.
[[nodiscard]] Schedule broadcast_along(const Problem& problem, const Shape& shape, int parts);

/// What a rank does with the answers of its children.
enum class Answers : std::uint8_t { kept, combined };

/// All that flows to the root of a k-nomial tree: the question runs down, to the largest subtree
/// first; then a position awaits its children's answers and tells its parent, in notifications, as
/// nobody else's memory has room for them: 2 ceil(logk p) stages. Answers that are kept are the
/// blocks of a subtree; those combined, by an operation that commutes, are vectors. The root is
/// done when it has all answers, and with it everyone.
[[nodiscard]] Schedule answer_along(const Problem& problem, Answers answers);

/// The schedule, at whose end the root awaits that every rank is done; all others tell it so once
/// `awaited`, their last await, has completed. They do all in the background: their programs do not
/// call.
[[nodiscard]] Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem,
                                         StepId awaited);

}  // namespace tutti
