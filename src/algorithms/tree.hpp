/// Gathers, scatters, broadcasts and reductions along any tree.
///
/// A tree of positions has
///
///     Position root()
///     Position parent(Position v)
///     BlockRange subtree(Position v)                 v and all positions below it; or any Blocks
///     std::vector<Position> children(Position v)     smallest subtrees first
#pragma once

#include <ranges>

#include "core/problem.hpp"
#include "schedule/builder.hpp"

namespace tutti {

/// The same tree for messages that hold the whole vector instead of a subtree's blocks.
template <class Tree>
struct OfVectors : Tree {
  explicit OfVectors(const Tree& tree) : Tree(tree) {}
  [[nodiscard]] BlockRange subtree(Position) const { return {0, 1}; }
};

/// A position receives the subtrees of its children, then sends its own subtree to its parent. A
/// reduction combines what it receives, as right operands.
template <class Tree>
Schedule gather_along(const Problem& problem, const Tree& tree) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  for (const Position child : tree.children(me)) {
    const Rank peer = problem.rank_at(child);
    if (reduces(problem.collective)) {
      schedule.reduce(peer, tree.subtree(child), Operand::right);
    } else {
      schedule.recv(peer, tree.subtree(child));
    }
  }
  if (me != tree.root()) schedule.send(problem.rank_at(tree.parent(me)), tree.subtree(me));
  return schedule.done();
}

/// The gather backwards: the largest subtree is served first, because it has most hops left.
template <class Tree>
Schedule scatter_along(const Problem& problem, const Tree& tree) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (me != tree.root()) schedule.recv(problem.rank_at(tree.parent(me)), tree.subtree(me));
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), tree.subtree(child));
  }
  return schedule.done();
}

}  // namespace tutti
