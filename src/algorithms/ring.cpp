/// Rings: each block goes once around.
#include <functional>

#include "algorithms/parts.hpp"
#include "algorithms/tree.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

namespace {

/// Position v receives blocks from v - 1 and passes them on to v + 1, its own first. `has(v,
/// block)`: v has the block, and does not receive it.
template <class Has>
Schedule go_around(ScheduleBuilder& schedule, const Problem& problem, Has has) {
  const int p = problem.p;
  const Position me = problem.position();
  const Position next = (me + 1) % p;
  const Position before = (me + p - 1) % p;
  FewRounds rounds(schedule);
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (me - round + p) % p;
    const Position in = (before - round + p) % p;
    if (!has(next, out)) schedule.send(problem.rank_at(next), {out, out + 1});
    if (!has(me, in)) rounds.add(schedule.recv(problem.rank_at(before), {in, in + 1}));
  }
  return schedule.done();
}

}  // namespace

///     p = 4    0>1 {0} 1>2 {1} 2>3 {2} 3>0 {3}    0>1 {3} 1>2 {0} ..    0>1 {2} 1>2 {3} ..
///
/// (p - 1)(alpha + m beta) with minimal volume; if blocks differ, the largest counts p - 1 times.
/// With the background runner it is BDR (Proficz 2021): blocks of early ranks go around before late
/// ranks arrive, and only a rank's own block waits for its rank.
Schedule allgather_ring(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  return go_around(schedule, problem, std::equal_to<>());
}

/// p parts are scattered along a binomial tree; then position v forwards to v + 1 the parts that
/// v + 1 lacks after the scatter (van de Geijn; Thakur, Rabenseifner & Gropp 2005, section 4.3):
///
///     p = 4    scatter: 0 has {0 1 2 3}, 1 {1}, 2 {2 3}, 3 {3}
///     ring     0>1 {0}  1>2 {1}  2>3 {2};  0>1 {3}  1>2 {0}  2>3 {1};  0>1 {2}  2>3 {0}
///
/// (ceil(log2 p) + p - 1) alpha + 2 (p - 1) / p m beta at most.
Schedule bcast_scatter_allgather(const Problem& problem) {
  const Problem cut = problem.cut(problem.p);
  const Knomial tree(problem.p, 2);
  ScheduleBuilder schedule(cut);
  schedule.append(scatter_along(cut, tree));
  return go_around(schedule, problem,
                   [&](Position v, Position part) { return tree.subtree(v).contains(part); });
}

/// Block b starts at position b + 1 and ends at position b:
///
///     p = 4    0>1 {3} 1>2 {0} 2>3 {1} 3>0 {2}    0>1 {2} 1>2 {3} ..    0>1 {1} 1>2 {2} ..
///
/// (p - 1)(alpha + m beta) with minimal volume. Combines in a cyclic sequence.
Schedule reduce_scatter_ring(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const Position before = (me + p - 1) % p;
  FewRounds rounds(schedule);
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (before - round + p) % p;
    const Position in = (before - round - 1 + 2 * p) % p;
    schedule.send(problem.rank_at((me + 1) % p), {out, out + 1});
    const StepId received = schedule.recv_staged(problem.rank_at(before), BlockRange{in, in + 1});
    rounds.add(received);
    schedule.combine(received, Operand::left);
  }
  return schedule.done();
}

/// 2 (p - 1) alpha + 2 (p - 1) / p m beta, with minimal volume (Patarasuk & Yuan 2009).
Schedule allreduce_ring(const Problem& problem) {
  return in_parts_of_ranks(problem, reduce_scatter_ring, allgather_ring);
}

}  // namespace tutti
