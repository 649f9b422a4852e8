/// Allreduce by recursive doubling.
#include "algorithms/butterfly.hpp"

namespace tutti {

/// In round d group g and group g xor 2^d exchange their vectors and combine them. The groups are
/// neighbours, so in natural order contributions stay in the sequence of ranks. Valid for any
/// associative operation:
///
///     p = 6    1>0 3>2    0<>2 4<>5    0<>4 2<>5    0>1 2>3
///
/// log2 p (alpha + m beta) for a power of two. Other p take 2 rounds more, in which the pairs'
/// second ranks send their vector and receive the result.
Schedule allreduce_recursive_doubling(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  const Folded folded(problem.p);
  return among_leaders(schedule, problem, vector, vector, [&] {
    const int group = folded.group_of(problem.rank);
    for (int distance = 1; distance < folded.groups(); distance *= 2) {
      const Rank peer = folded.leader(group ^ distance);
      schedule.send(peer, vector);
      schedule.reduce(peer, vector, (group & distance) != 0 ? Operand::left : Operand::right);
    }
  });
}

}  // namespace tutti
