/// Allgather on the circulant graph, for any number of ranks.
#include "shapes/circulant.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// Before round k position v has the blocks of the s_k positions from itself on. It sends the first
/// s_{k+1} - s_k of them to v - s_k and receives as many, those of v + s_k and on, from v + s_k
/// (Träff 2024, arXiv 2407.18004):
///
///     p = 6, skips 1 2 3 6    0 has {0}    {0 1}    {0 1 2}    all
///
/// ceil(log2 p) rounds, (p - 1) m beta. Rounds grow as evenly as p allows; the last round of Bruck
/// may be short.
Schedule allgather_circulant(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const std::vector<int> skips = circulant_skips(p);
  for (std::size_t round = 0; round + 1 < skips.size(); ++round) {
    const int skip = skips[round];
    const int count = skips[round + 1] - skip;
    const Position from = (me + skip) % p;
    schedule.send(problem.rank_at((me - skip + p) % p), schedule.cyclic(me, count));
    schedule.recv(problem.rank_at(from), schedule.cyclic(from, count));
  }
  return schedule.done();
}

}  // namespace tutti
