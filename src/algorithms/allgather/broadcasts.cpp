/// Allgather as a broadcast of each block on its own.
#include "schedule/builder.hpp"

namespace tutti {

/// Each block goes down the k-nomial tree that begins at its own position; the trees are one tree,
/// turned:
///
///     p = 5, k = 2    block 0: 0 -+- 1        block 3: 3 -+- 4
///                                +- 2 --- 3              +- 0 --- 1
///                                +- 4                    +- 2
///
/// p - 1 messages of one block from each rank: (p - 1)(alpha + m beta), as linear. In the
/// background the block of a late rank needs ceil(log2 p)(alpha + m beta) after its arrival, where
/// a ring needs p - 1 such hops: the bound is ceil(log2 p) alpha and alpha + m beta.
Schedule allgather_broadcasts(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const int k = problem.parameters.k;
  const Position me = problem.position();
  const auto block = [&](int before) {
    const Position source = (me - before + p) % p;
    return BlockRange{source, source + 1};
  };
  long step = 1;
  while (step * k < p) step *= k;
  // The longest hops first, which have most still to go; both ends of a hop have the same sequence.
  for (; step >= 1; step /= k) {
    for (int digit = k - 1; digit >= 1; --digit) {
      const long hop = digit * step;
      for (long from = 0; from + hop < p; from += step * k) {
        const auto distance = static_cast<int>(hop);
        schedule.send(problem.rank_at((me + distance) % p), block(static_cast<int>(from)));
        schedule.recv(problem.rank_at((me - distance + p) % p),
                      block(static_cast<int>(from + hop)));
      }
    }
  }
  return schedule.done();
}

}  // namespace tutti
