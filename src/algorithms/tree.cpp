/// Gathers, scatters, broadcasts and reductions along k-nomial, Bine and relay trees and along the
/// ordered tree built from the sizes; allgathers up a tree and down again.
#include "algorithms/tree.hpp"

#include <algorithm>
#include <functional>

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"
#include "shapes/relay.hpp"

namespace tutti {

Schedule linear_sync(const Problem& problem);

namespace {

/// The message with the blocks of a subtree that do not bypass its root.
void add_message(ScheduleBuilder& schedule, StepKind kind, Rank peer, const Subtree& subtree) {
  schedule.part(kind, peer, {subtree.blocks, subtree.holes}, 0, subtree.bytes);
}

/// The problem of the gather: the first position is the root.
Problem gather_of(const Problem& problem) {
  Problem gather = problem;
  gather.collective = is_irregular(problem.collective) ? Collective::gatherv : Collective::gather;
  gather.root = problem.rank_at(0);
  return gather;
}

/// The tree of the way down: a position receives all blocks except those that it has, which are
/// those of its subtree or its own.
struct WayDown : Knomial {
  int p;
  bool has_subtree;

  [[nodiscard]] Blocks subtree(Position v) const {
    const BlockRange has = has_subtree ? Knomial::subtree(v) : BlockRange{v, v + 1};
    return Blocks({0, p}, {has});
  }
};

}  // namespace

/// Every subtree is a range of ranks, so data arrives in rank order (Träff 2017, section 2;
/// protocols/ordered_tree.hpp draws the tree). All receives are in flight at once; subtrees are
/// served as they become ready.
Schedule ordered_tree_up(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  for (const Subtree& child : tree.children) {
    add_message(schedule, StepKind::recv, child.root, child);
  }
  if (tree.parent != no_rank) add_message(schedule, StepKind::send, tree.parent, tree.self);
  return schedule.done();
}

/// The gather backwards over the same tree, in the same time (Träff 2017, section 2). A rank first
/// serves the child whose subtree takes longest to complete.
Schedule ordered_tree_down(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const TreeNeighbours& tree = problem.tree;
  if (tree.parent != no_rank) add_message(schedule, StepKind::recv, tree.parent, tree.self);
  std::vector<Subtree> children = tree.children;
  std::ranges::stable_sort(children, std::greater<>(), &Subtree::ready);
  for (const Subtree& child : children) {
    add_message(schedule, StepKind::send, child.root, child);
  }
  return schedule.done();
}

/// The root is at position 0 of the order. A position receives the subtrees of its children, or
/// combines their vectors, then sends its own subtree to its parent:
///
///     gather, p = 6, k = 2, root 2, order 2 0 5 1 4 3
///         2 -+- 0
///            +- 5 --- 1
///            +- 4 --- 3
///
/// The root receives at most (k-1) ceil(logk p) messages; in a gather one more for each subtree
/// that is too heavy for the memory of the ranks on its path. With k = 2, `binomial`, the block at
/// position v travels popcount(v) hops (Proficz 2020, BNOM). A reduction takes at most (k - 1)
/// ceil(logk p) (alpha + m beta). It combines in the sequence of the order, which is the sequence
/// of ranks only if the root is rank 0.
Schedule knomial_up(const Problem& problem) {
  if (problem.tree.self.root != no_rank) return ordered_tree_up(problem);
  return gather_along(problem, Knomial(problem.p, problem.parameters.k));
}

/// The same backwards: a position receives its subtree or the vector from its parent, then serves
/// its children, the last one first, because a whole subtree of its place has most hops left.
///
///     scatter, p = 6, k = 2, root 2, order 2 0 5 1 4 3
///         2 -+- 4 --- 3
///            +- 5 --- 1
///            +- 0
///
/// A broadcast takes (k - 1) ceil(logk p) (alpha + m beta) at most. The messages and hops of a
/// scatter are those of the gather above.
Schedule knomial_down(const Problem& problem) {
  if (problem.tree.self.root != no_rank) return ordered_tree_down(problem);
  return scatter_along(problem, Knomial(problem.p, problem.parameters.k));
}

/// Subtrees of a Bine tree are ranges too (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     gather, p = 6, root 2
///         2 -+- 1 --- 0
///            +- 3 --- 4 --- 5
///
/// ceil(log2 p) alpha + (p - 1) m beta for any p; a reduction ceil(log2 p) (alpha + m beta).
/// Children are on both sides of a position, so its operation must commute.
Schedule bine_up(const Problem& problem) { return gather_along(problem, BineTree(problem.p)); }

/// The same backwards (De Sensi et al. 2025, section 4):
///
///     scatter and bcast, p = 6, root 2
///         2 -+- 3 --- 4 --- 5
///            +- 1 --- 0
///
/// A scatter takes ceil(log2 p) alpha + (p - 1) m beta for any p, a bcast ceil(log2 p) (alpha +
/// m beta), as in a binomial tree, with about 0.7 of its distances modulo p.
Schedule bine_down(const Problem& problem) { return scatter_along(problem, BineTree(problem.p)); }

/// For operations that do not commute: the k-nomial tree in natural order, then a message from rank
/// 0 to the root if these differ (MPICH's binomial reduce).
Schedule reduce_knomial_ordered(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  schedule.append(knomial_up(problem));
  if (problem.root == 0) return schedule.done();
  if (problem.rank == 0) schedule.send(problem.root, vector);
  if (problem.at_root()) schedule.recv(0, vector);
  return schedule.done();
}

/// Up the k-nomial tree of the ranks to rank 0 and down again. Valid for any associative operation.
/// At most 2 (k - 1) ceil(logk p) (alpha + m beta).
Schedule allreduce_reduce_bcast(const Problem& problem) {
  Problem rooted = problem;
  rooted.root = 0;
  ScheduleBuilder schedule(problem);
  schedule.append(reduce_knomial_ordered(rooted));
  schedule.append(knomial_down(rooted));
  return schedule.done();
}

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

/// The root sends every early rank its own block and those of its share of the late ranks. So many
/// ports serve the late ranks at once after they arrive:
///
///     p = 6, late = 2, root 2, order 2 0 5 1 4 3: 5 and 4 are late
///         2 -+- 0 --- 5
///            +- 1 --- 4
///            +- 3
///
/// If L of p ranks arrive late and together, ceil(L / (p - L)) blocks follow the last arrival
/// instead of L. This is the lower bound of a scatter to ranks that receive after their arrival, if
/// the root is done before. p = 48, L = 24: 1 block instead of 24. We know of no paper with it. A
/// binomial tree by arrival also relays, to the leaves, which are half of the ranks; with more late
/// ranks its largest subtrees take longer (L = 44: 15 blocks instead of 11).
Schedule scatter_relay(const Problem& problem) {
  return scatter_along(problem, RelayTree(problem.p, problem.parameters.late));
}

/// Up and down one k-nomial tree. On the way down a child receives the blocks that are not from its
/// own subtree.
///
///     p = 4    1>0 {1} 3>2 {3}    2>0 {2 3}    0>2 {0 1}    0>1 {0 2 3} 2>3 {0 1 2}
///
/// At most 2 (k - 1) ceil(logk p) rounds; with k = 2 at most (1 + ceil(log2 p)) (p - 1) m beta.
Schedule allgather_gather_bcast(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Knomial tree(problem.p, problem.parameters.k);
  schedule.append(knomial_up(gather_of(problem)));
  schedule.append(scatter_along(problem, WayDown{tree, problem.p, true}));
  return schedule.done();
}

/// A synchronised linear gather, then a binomial broadcast. With order=arrival and the background
/// runner it is BSLB (Proficz 2021): the first position gathers while the others arrive, so only
/// the broadcast follows the last arrival. In it a rank receives all blocks except its own.
Schedule allgather_sync_bcast(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  schedule.append(linear_sync(gather_of(problem)));
  schedule.append(scatter_along(problem, WayDown{Knomial(problem.p, 2), problem.p, false}));
  return schedule.done();
}

}  // namespace tutti
