/// Allgather as a gather to the first position of the order and a broadcast from it.
#include "algorithms/tree.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

Schedule knomial_up(const Problem& problem);
Schedule linear_sync(const Problem& problem);

namespace {

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

/// Up and down one k-nomial tree. On the way down a child receives the blocks that are not from its
/// own subtree.
///
///     p = 4    1>0 {1} 3>2 {3}    2>0 {2 3}    0>2 {0 1}    0>1 {0 2 3} 2>3 {0 1 2}
///
/// 2 ceil(log2 p) rounds, at most (1 + ceil(log2 p)) (p - 1) m beta.
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
