/// Allgather as one broadcast per block.
#include "schedule/builder.hpp"

namespace tutti {

/// Each block goes down the k-nomial tree rooted at its own position; the trees are rotations of
/// one tree:
///
///     p = 5, k = 2    block 0: 0 -+- 1        block 3: 3 -+- 4
///                                +- 2 --- 3              +- 0 --- 1
///                                +- 4                    +- 2
///
/// p - 1 messages of one block from each rank: (p - 1)(alpha + m beta), as linear. With the
/// background runner the block of a late rank needs at most (k - 1) ceil(logk p)(alpha + m beta)
/// after its arrival; a ring needs p - 1 such hops. The lower bounds are ceil(log2 p) alpha and
/// alpha + m beta.
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
  // Largest subtrees first, because they have most hops left; sender and receiver agree on this.
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
