/// Allreduce by recursive doubling.
#include "schedule/builder.hpp"
#include "shapes/folded.hpp"

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
  const Rank me = problem.rank;
  const Rank other = folded.other(me);
  if (!folded.leads(me)) {
    schedule.send(other, vector);
    schedule.recv(other, vector);
    return schedule.done();
  }
  if (other >= 0) schedule.reduce(other, vector, Operand::right);
  const int group = folded.group_of(me);
  for (int distance = 1; distance < folded.groups(); distance *= 2) {
    const Rank peer = folded.leader(group ^ distance);
    schedule.send(peer, vector);
    schedule.reduce(peer, vector, (group & distance) != 0 ? Operand::left : Operand::right);
  }
  if (other >= 0) schedule.send(other, vector);
  return schedule.done();
}

}  // namespace tutti
