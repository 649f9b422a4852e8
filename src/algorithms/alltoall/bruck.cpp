/// Alltoall by Bruck: blocks travel together, one digit of their distance at a time.
#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

namespace {

/// The blocks that position v sends to distance digit * step: those with this digit in the base-k
/// form of their distance. A block that comes from x positions before v has travelled x. O(n log
/// n) for n blocks.
Blocks blocks_leaving(const Problem& problem, Position v, long step, int digit) {
  const int p = problem.p;
  std::vector<BlockIndex> leaving;
  for (long first = digit * step; first < p; first += step * problem.parameters.k) {
    for (long distance = first; distance < std::min<long>(first + step, p); ++distance) {
      const auto from = static_cast<Position>((v - (distance - first) + p) % p);
      leaving.push_back(problem.pair(from, static_cast<Position>((from + distance) % p)).begin);
    }
  }
  return Blocks::of(std::move(leaving));
}

}  // namespace

/// A block for the position at distance d travels the digits of d in base k one after the other,
/// lowest first, together with all blocks that have the same digit (Bruck et al. 1997, section 2):
///
///     p = 5, k = 2    +1: d = 1, 3    +2: d = 2, 3    +4: d = 4
///
/// ceil(logk p) rounds of k - 1 messages; with k = 2 about p / 2 blocks in each message: log2 p
/// alpha + p / 2 log2 p m beta. Small k suits small blocks; k = p sends directly.
Schedule alltoall_bruck(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const int k = problem.parameters.k;
  const Position me = problem.position();
  for (long step = 1; step < p; step *= k) {
    for (int digit = 1; digit < k && digit * step < p; ++digit) {
      const auto hop = static_cast<int>(digit * step);
      const Position from = (me - hop + p) % p;
      schedule.send(problem.rank_at((me + hop) % p), blocks_leaving(problem, me, step, digit));
      schedule.recv(problem.rank_at(from), blocks_leaving(problem, from, step, digit));
    }
  }
  return schedule.done();
}

}  // namespace tutti
