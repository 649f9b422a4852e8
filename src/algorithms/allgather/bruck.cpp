/// Allgather by Bruck, for any number of ranks.
#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

/// A position that has the blocks of the `step` positions from itself on receives as many more from
/// each of the positions at distance `step` times 1, .., k - 1 (Bruck et al. 1997, section 3):
///
///     p = 6, k = 2    0 has {0}    from 1: {0 1}    from 2: {0 1 2 3}    from 4: all
///
/// (k - 1) ceil(logk p) messages of each rank in ceil(logk p) rounds, (p - 1) m beta. Blocks are
/// stored by position, so no rotation is needed at the end.
Schedule allgather_bruck(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  for (long step = 1; step < p; step *= problem.parameters.k) {
    for (int digit = 1; digit < problem.parameters.k && digit * step < p; ++digit) {
      const auto distance = static_cast<int>(digit * step);
      const int count = static_cast<int>(std::min<long>(step, p - distance));
      const Position from = (me + distance) % p;
      schedule.send(problem.rank_at((me - distance + p) % p), schedule.cyclic(me, count));
      schedule.recv(problem.rank_at(from), schedule.cyclic(from, count));
    }
  }
  return schedule.done();
}

}  // namespace tutti
