/// One-sided collectives along trees; only the root calls, inner ranks forward in the background.
#include <algorithm>
#include <functional>
#include <ranges>

#include "algorithms/parts.hpp"
#include "lowering/background.hpp"
#include "protocols/fixed_tree.hpp"
#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

namespace {

/// The neighbours of position v among n, as positions; children in the sequence in which they are
/// served. The root, position 0, has only children.
using TreeShape = std::function<TreeEdges(Position v, int n)>;

/// The first rank of each node in the order, and the index of the rank's own node among them.
struct Leaders {
  std::vector<Rank> ranks;
  Position own = 0;
};

Leaders leaders_of(const Problem& problem) {
  const Nodes& nodes = *problem.nodes;
  Leaders leaders;
  std::vector<bool> seen(index(nodes.count()), false);
  for (Position v = 0; v < problem.p; ++v) {
    const int node = nodes.node_of(problem.rank_at(v));
    if (seen[index(node)]) continue;
    seen[index(node)] = true;
    if (node == nodes.node_of(problem.rank)) leaders.own = static_cast<int>(leaders.ranks.size());
    leaders.ranks.push_back(problem.rank_at(v));
  }
  return leaders;
}

/// The k-nomial tree with the problem's k, large subtrees first.
TreeShape knomial_shape(const Problem& problem) {
  return [k = problem.parameters.k](Position v, int n) {
    const Knomial tree(n, k);
    TreeEdges edges{v == 0 ? no_rank : tree.parent(v), tree.children(v)};
    std::ranges::reverse(edges.children);
    return edges;
  };
}

/// The neighbours of the problem's rank in a tree. With `nodes`, the first rank of each node in the
/// order is its leader, on the root's node the root. Leaders form the tree, and serve the ranks of
/// their node after those of other nodes, so one message or put enters each node. O(p) with nodes.
TreeEdges family_of(const Problem& problem, const TreeShape& shape) {
  const auto family = [&](Position v, int n, const auto& rank_at) {
    TreeEdges edges = shape(v, n);
    edges.parent = v == 0 ? no_rank : rank_at(edges.parent);
    for (Rank& child : edges.children) child = rank_at(child);
    return edges;
  };
  if (!problem.parameters.nodes || problem.nodes == nullptr) {
    return family(problem.position(), problem.p, [&](Position v) { return problem.rank_at(v); });
  }
  const Leaders leaders = leaders_of(problem);
  const auto leader_at = [&](Position v) { return leaders.ranks[index(v)]; };
  if (leader_at(leaders.own) != problem.rank) return {leader_at(leaders.own), {}};
  TreeEdges edges = family(leaders.own, static_cast<int>(leaders.ranks.size()), leader_at);
  const Nodes& nodes = *problem.nodes;
  for (const Rank local : nodes.ranks(nodes.node_of(problem.rank))) {
    if (local != problem.rank) edges.children.push_back(local);
  }
  return edges;
}

/// Gives each child its blocks, in the sequence of `children`: puts them into its memory, then
/// notifies it after a flush of the put, because notifications may overtake puts. Blocks that are
/// not put travel in a notification. That comes after `awaited`, the await of this rank's blocks,
/// because blocks may be empty; `awaited` is none at the root.
template <class BlocksOf, class IsPut>
void serve(ScheduleBuilder& schedule, const std::vector<Rank>& children, StepId awaited,
           BlocksOf blocks_of, IsPut is_put) {
  for (const Rank child : children) {
    const BlockRange blocks = blocks_of(child);
    if (is_put(blocks)) {
      schedule.put(child, blocks);
    } else {
      schedule.after(schedule.notify(child, blocks, true), awaited);
    }
  }
  for (const Rank child : children) {
    const BlockRange blocks = blocks_of(child);
    if (!is_put(blocks)) continue;
    const StepId flushed = schedule.flush(child);
    schedule.after(schedule.notify(child, blocks), flushed);
  }
}

/// Completes the schedule: the root awaits a notification from every rank, which the rank sends
/// after `awaited`, its last await. All ranks but the root run in the background, because their
/// programs do not call.
Schedule with_done_counter(ScheduleBuilder& schedule, const Problem& problem, StepId awaited) {
  if (problem.at_root()) {
    for (Position other = 1; other < problem.p; ++other) {
      schedule.await(problem.rank_at(other), {});
    }
  } else {
    schedule.after(schedule.notify(problem.root, {}), awaited);
  }
  return in_background(schedule.done(), problem.position());
}

/// Broadcasts the vector from the root to all windows along a tree, part after part: each position
/// awaits a part from its parent and serves its children.
Schedule broadcast_along(const Problem& problem, const TreeShape& shape, int parts) {
  const Problem cut = problem.cut(parts);
  ScheduleBuilder schedule(cut);
  const TreeEdges family = family_of(problem, shape);
  const auto is_put = [&](BlockRange blocks) {
    return schedule.bytes(blocks) > problem.parameters.carry;
  };
  StepId awaited = ScheduleBuilder::none;
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange blocks = {part, part + 1};
    if (family.parent != no_rank) {  // awaits parts one after the other
      const StepId before = awaited;
      awaited = schedule.await(family.parent, blocks, !is_put(blocks));
      schedule.after(awaited, before);
    }
    serve(
        schedule, family.children, awaited, [&](Rank) { return blocks; }, is_put);
  }
  return with_done_counter(schedule, problem, awaited);
}

/// The tree in which position v has up to k children from v k + 1 on:
///
///     p = 6, k = 2
///         0 -+- 1 -+- 3
///            |     +- 4
///            +- 2 --- 5
Schedule pipelined(const Problem& problem, int k) {
  const auto shape = [k](Position v, int n) {
    TreeEdges edges{(v - 1) / k, {}};
    for (int i = 1; i <= k && v * k + i < n; ++i) edges.children.push_back(v * k + i);
    return edges;
  };
  // With puts, each part would wait for a flush, which takes a round trip.
  Problem carried = problem;
  if (carried.parameters.carry == max_carried) carried.parameters.carry = all_carried;
  // Parts that fit into a notification.
  return broadcast_along(carried, shape, pipeline_parts(problem, max_carried, 512));
}

}  // namespace

/// p - 1 puts from the root, one gap apart (Paznikov 2024, section 1.1). Under LogGP each put takes
/// the root max(g, o) + (m - 1) G; a flush and a notification follow.
Schedule rma_bcast_linear(const Problem& problem) {
  const auto star = [](Position v, int n) {
    TreeEdges edges{0, {}};
    for (Position other = 1; v == 0 && other < n; ++other) edges.children.push_back(other);
    return edges;
  };
  return broadcast_along(problem, star, 1);
}

/// A position awaits the vector from its parent, then serves its children, largest subtrees first.
/// All puts are in flight before the first flush: at most (k - 1) ceil(logk p) stages. The tree is
/// that of shapes/knomial.hpp.
Schedule rma_bcast_knomial(const Problem& problem) {
  return broadcast_along(problem, knomial_shape(problem), 1);
}

/// Paznikov 2024, figures 4 and 5: smallest subtrees first. Each child is served completely before
/// the next, with a put of the data, a put of the description, the notification and a flush. The
/// largest subtree starts last, so k = log2 p rounds become k (k + 1) / 2 stages in sequence. The
/// paper flushes only after the notification, which may overtake the data; this adds a flush
/// before it.
Schedule rma_bcast_paznikov(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, 2);
  const Position me = problem.position();
  StepId awaited = ScheduleBuilder::none;
  if (me != 0) awaited = schedule.await(problem.rank_at(tree.parent(me)), vector);
  schedule.wait(awaited);
  for (const Position child : tree.children(me)) {
    const Rank rank = problem.rank_at(child);
    schedule.put(rank, vector);
    schedule.put_description(rank);
    schedule.wait(schedule.flush(rank));
    schedule.notify(rank, vector);
    schedule.wait(schedule.flush(rank));
  }
  return with_done_counter(schedule, problem, awaited);
}

/// n + p - 2 stages of one part each.
Schedule rma_bcast_chain(const Problem& problem) { return pipelined(problem, 1); }

/// About 2 (n + log2 p) stages: each inner rank sends the vector twice.
Schedule rma_bcast_binary(const Problem& problem) { return pipelined(problem, 2); }

/// Collects data at the root of a k-nomial tree. A request goes down, to the largest subtree first;
/// then a position awaits its children's answers and sends its own to its parent. Notifications
/// carry the answers, because no window has room for them: 2 ceil(logk p) stages. Answers are the
/// blocks of a subtree; those of a reduction are vectors that a rank combines, and the operation
/// must commute. All ranks are done when the root has all answers.
Schedule answers_knomial(const Problem& problem) {
  const bool combines = reduces(problem.collective);
  ScheduleBuilder schedule(problem);
  const TreeEdges family = family_of(problem, knomial_shape(problem));
  const Knomial tree(problem.p, problem.parameters.k);
  const auto answer_of = [&](Rank rank) {
    return combines ? BlockRange{0, 1} : tree.subtree(problem.order.position_of(rank));
  };
  StepId asked = ScheduleBuilder::none;
  if (family.parent != no_rank) asked = schedule.await(family.parent, {});
  for (const Rank child : family.children) {
    schedule.after(schedule.notify(child, {}), asked);
  }
  for (const Rank child : family.children | std::views::reverse) {
    if (combines) {
      schedule.combine(schedule.await_staged(child, answer_of(child)), Operand::right);
    } else {
      schedule.await(child, answer_of(child), true);
    }
  }
  if (family.parent != no_rank) {
    schedule.after(schedule.notify(family.parent, answer_of(problem.rank), true), asked);
  }
  return in_background(schedule.done(), problem.position());
}

/// All ranks are the root's children: two stages, p - 1 answers at once.
Schedule answers_linear(const Problem& problem) {
  return answers_knomial(problem.with_k(std::max(problem.p, 2)));
}

/// A position awaits the blocks of its subtree, then serves its children, largest subtrees first. A
/// window has room only for its own block, so notifications carry the blocks for other ranks. Only
/// a leaf's block is put, if it is too large for a notification.
///
///     p = 6, k = 2, root 2, order 2 3 4 5 0 1
///         2 -+- 0 --- 1
///            +- 4 --- 5
///            +- 3
Schedule rma_scatter_knomial(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeEdges family = family_of(problem, knomial_shape(problem));
  const Knomial tree(problem.p, problem.parameters.k);
  const auto blocks_of = [&](Rank rank) { return tree.subtree(problem.order.position_of(rank)); };
  const auto is_put = [&](BlockRange blocks) {
    return blocks.count() == 1 && schedule.bytes(blocks) > problem.parameters.carry;
  };
  StepId awaited = ScheduleBuilder::none;
  if (family.parent != no_rank) {
    const BlockRange own = blocks_of(problem.rank);
    awaited = schedule.await(family.parent, own, !is_put(own));
  }
  serve(schedule, family.children, awaited, blocks_of, is_put);
  return with_done_counter(schedule, problem, awaited);
}

/// All ranks are the root's children: p - 1 puts or notifications, one gap apart.
Schedule rma_scatter_linear(const Problem& problem) {
  return rma_scatter_knomial(problem.with_k(std::max(problem.p, 2)));
}

}  // namespace tutti
