/// Broadcast of large vectors: the parts are scattered, then gathered around a ring.
#include "algorithms/tree.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

/// p parts are scattered along a binomial tree; then position v forwards to v + 1 the parts that
/// v + 1 lacks after the scatter (van de Geijn; Thakur, Rabenseifner & Gropp 2005, section 4.3):
///
///     p = 4    scatter: 0 has {0 1 2 3}, 1 {1}, 2 {2 3}, 3 {3}
///     ring     0>1 {0}  1>2 {1}  2>3 {2};  0>1 {3}  1>2 {0}  2>3 {1};  0>1 {2}  2>3 {0}
///
/// (ceil(log2 p) + p - 1) alpha + 2 (p - 1) / p m beta at most.
Schedule bcast_scatter_allgather(const Problem& problem) {
  const Problem cut = problem.cut(problem.p);
  ScheduleBuilder schedule(cut);
  const int p = problem.p;
  const Knomial tree(p, 2);
  schedule.append(scatter_along(cut, tree));
  const Position me = problem.position();
  const Position next = (me + 1) % p;
  const Position before = (me + p - 1) % p;
  FewRounds rounds(schedule);
  for (int round = 0; round + 1 < p; ++round) {
    const Position out = (me - round + p) % p;
    const Position in = (before - round + p) % p;
    if (!tree.subtree(next).contains(out)) schedule.send(problem.rank_at(next), {out, out + 1});
    if (tree.subtree(me).contains(in)) continue;
    rounds.add(schedule.recv(problem.rank_at(before), {in, in + 1}));
  }
  return schedule.done();
}

}  // namespace tutti
