/// Gathers, scatters, broadcasts and reductions along any tree.
///
/// A tree of positions has
///
///     Position root()
///     Position parent(Position v)
///     BlockRange subtree(Position v)                 v and all positions below it
///     std::vector<Position> children(Position v)     smallest subtrees first
#pragma once

#include <ranges>

#include "core/problem.hpp"
#include "schedule/builder.hpp"

namespace tutti {

/// A position receives the subtrees of its children, then sends its own subtree to its parent.
template <class Tree>
Schedule gather_along(const Problem& problem, const Tree& tree) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  for (const Position child : tree.children(me)) {
    schedule.recv(problem.rank_at(child), tree.subtree(child));
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

/// The scatter with the whole vector in each message.
template <class Tree>
Schedule bcast_along(const Problem& problem, const Tree& tree) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (me != tree.root()) schedule.recv(problem.rank_at(tree.parent(me)), vector);
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), vector);
  }
  return schedule.done();
}

/// The gather with combined vectors: those of children are right operands.
template <class Tree>
Schedule reduce_along(const Problem& problem, const Tree& tree) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  for (const Position child : tree.children(me)) {
    schedule.reduce(problem.rank_at(child), vector, Operand::right);
  }
  if (me != tree.root()) schedule.send(problem.rank_at(tree.parent(me)), vector);
  return schedule.done();
}

}  // namespace tutti
