/// Allgather as a gather to the first position of the order and a broadcast from it.
#include <ranges>

#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

Schedule gather_knomial(const Problem& problem);
Schedule gather_linear_sync(const Problem& problem);

namespace {

/// The problem of the gather: the first position is the root.
Problem rooted(const Problem& problem) {
  Problem rooted = problem;
  rooted.root = problem.rank_at(0);
  return rooted;
}

/// Broadcasts down the tree; a position receives all blocks except the ones that `has` returns.
template <class Has>
void broadcast(ScheduleBuilder& schedule, const Problem& problem, const Knomial& tree, Has has) {
  const auto missing = [&](Position v) { return Blocks({0, problem.p}, {has(v)}); };
  const Position me = problem.position();
  if (me != 0) {
    schedule.recv(problem.rank_at(tree.parent(me)), missing(me), schedule.bytes(missing(me)));
  }
  for (const Position child : tree.children(me) | std::views::reverse) {
    schedule.send(problem.rank_at(child), missing(child), schedule.bytes(missing(child)));
  }
}

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
  schedule.append(gather_knomial(rooted(problem)));
  broadcast(schedule, problem, tree, [&](Position v) { return tree.subtree(v); });
  return schedule.done();
}

/// A synchronised linear gather, then a binomial broadcast. With order=arrival and the background
/// runner it is BSLB (Proficz 2021): the first position gathers while the others arrive, so only
/// the broadcast follows the last arrival. In it a rank receives all blocks except its own.
Schedule allgather_sync_bcast(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  schedule.append(gather_linear_sync(rooted(problem)));
  broadcast(schedule, problem, Knomial(problem.p, 2), [](Position v) {
    return BlockRange{v, v + 1};
  });
  return schedule.done();
}

}  // namespace tutti
