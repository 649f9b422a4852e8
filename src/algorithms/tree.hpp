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

/// What a position sends up or receives on its way down: the blocks of its subtree, or the whole
/// vector where the collective has one.
template <class Tree>
auto load_of(const Problem& problem, const Tree& tree, Position position) {
  using Load = decltype(tree.subtree(position));
  const bool is_whole = block_kind(problem.collective) == BlockKind::parts && problem.parts == 1;
  return is_whole ? Load{BlockRange{0, 1}} : tree.subtree(position);
}

/// A position receives the subtrees of its children, then sends its own subtree to its parent. A
/// reduction combines what it receives, as right operands.
template <class Tree>
Schedule gather_along(const Problem& problem, const Tree& tree) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  for (const Position child : tree.children(me)) {
    const Rank peer = problem.rank_at(child);
    if (reduces(problem.collective)) {
      schedule.reduce(peer, load_of(problem, tree, child), Operand::right);
    } else {
      schedule.recv(peer, load_of(problem, tree, child));
    }
  }
  if (me != tree.root()) {
    schedule.send(problem.rank_at(tree.parent(me)), load_of(problem, tree, me));
  }
  return schedule.done();
}

/// The gather backwards: the last subtree is served first, because a whole one of its place has
/// most hops left.
template <class Tree>
Schedule scatter_along(const Problem& problem, const Tree& tree) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (me != tree.root()) {
    schedule.recv(problem.rank_at(tree.parent(me)), load_of(problem, tree, me));
  }
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), load_of(problem, tree, child));
  }
  return schedule.done();
}

}  // namespace tutti
