/// Trees of ranks for one-sided collectives, and the steps that serve children.
#include "algorithms/one_sided.hpp"

#include <algorithm>
#include <ranges>

#include "core/nodes.hpp"
#include "lowering/background.hpp"

namespace tutti {

namespace {

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

/// True if the blocks fit into a notification.
bool are_carried(const ScheduleBuilder& schedule, const Problem& problem, BlockRange blocks) {
  return schedule.bytes(blocks) <= problem.parameters.carry;
}

}  // namespace

TreeShape knomial_shape(const Problem& problem) {
  return [k = problem.parameters.k](Position v, int n) {
    const Knomial tree(n, k);
    TreeEdges edges{v == 0 ? no_rank : tree.parent(v), tree.children(v)};
    std::ranges::reverse(edges.children);
    return edges;
  };
}

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

void serve_together(ScheduleBuilder& schedule, const Problem& problem, BlockRange part,
                    const std::vector<Rank>& children, StepId awaited) {
  const bool carried = are_carried(schedule, problem, part);
  for (const Rank child : children) {
    if (carried) {
      schedule.after(schedule.notify(child, part, true), awaited);
    } else {
      schedule.put(child, part);
    }
  }
  if (carried) return;
  for (const Rank child : children) {
    const StepId flushed = schedule.flush(child);
    schedule.after(schedule.notify(child, part), flushed);
  }
}

Schedule broadcast_along(const Problem& problem, const TreeShape& shape, int parts) {
  const Problem cut = problem.cut(parts);
  ScheduleBuilder schedule(cut);
  const TreeEdges family = family_of(problem, shape);
  StepId awaited = ScheduleBuilder::none;
  for (int part = 0; part < cut.parts; ++part) {
    const BlockRange blocks = {part, part + 1};
    if (family.parent != no_rank) {  // awaits parts one after the other
      const StepId before = awaited;
      awaited = schedule.await(family.parent, blocks, are_carried(schedule, problem, blocks));
      schedule.after(awaited, before);
    }
    serve_together(schedule, problem, blocks, family.children, awaited);
  }
  return with_done_counter(schedule, problem, awaited);
}

Schedule answer_along(const Problem& problem) {
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

}  // namespace tutti
