/// Reduce_scatter on the circulant graph, for any number of ranks.
#include "shapes/circulant.hpp"

#include "schedule/builder.hpp"

namespace tutti {

/// The circulant allgather backwards: in round k = q - 1, .., 0 position v sends its s_{k+1} - s_k
/// blocks from v + s_k on to position v + s_k, and combines as many blocks from its own on (Träff
/// 2024, arXiv 2407.18004):
///
///     p = 6, skips 1 2 3 6    0 sends {3 4 5} to 3, {2} to 2, {1} to 1
///
/// ceil(log2 p) rounds, (p - 1) m beta for any p. Combines in a cyclic sequence.
Schedule reduce_scatter_circulant(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  const std::vector<int> skips = circulant_skips(p);
  for (std::size_t round = skips.size() - 1; round-- > 0;) {
    const int skip = skips[round];
    const int count = skips[round + 1] - skip;
    const Position to = (me + skip) % p;
    schedule.send(problem.rank_at(to), schedule.cyclic(to, count));
    schedule.reduce(problem.rank_at((me - skip + p) % p), schedule.cyclic(me, count),
                    Operand::left);
  }
  return schedule.done();
}

}  // namespace tutti
