/// Exchanges of all with all in which every block goes directly from its source to its destination.
#include <vector>

#include "schedule/builder.hpp"

namespace tutti {

namespace {

/// The block that position `from` sends to position `to`: their pair's, the contribution to what
/// `to` receives in a reduction, or its own.
BlockRange block_between(const Problem& problem, Position from, Position to) {
  if (block_kind(problem.collective) == BlockKind::pairs) return problem.pair(from, to);
  const Position block = reduces(problem.collective) ? to : from;
  return {block, block + 1};
}

/// Receives from a position: in a reduction, into staging memory.
StepId receive(ScheduleBuilder& schedule, const Problem& problem, Position from) {
  const BlockRange block = block_between(problem, from, problem.position());
  return reduces(problem.collective) ? schedule.recv_staged(problem.rank_at(from), block)
                                     : schedule.recv(problem.rank_at(from), block);
}

}  // namespace

/// Position v sends to v + 1, v + 2, .. and receives from v - 1, v - 2, .., so no two ranks begin
/// with the same receiver. Messages of up to 8 distances are in flight at once, so few come before
/// their receive. A reduction combines lower ranks from the left, then higher ranks from the right,
/// so any associative operation is valid. p - 1 messages from each rank; (p - 1) alpha + (M - m)
/// beta, where a rank receives M - m bytes.
Schedule direct_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  FewRounds rounds(schedule);
  std::vector<StepId> received(index(p), ScheduleBuilder::none);
  for (int distance = 1; distance < p; ++distance) {
    const Position to = (me + distance) % p;
    const Position from = (me - distance + p) % p;
    received[index(from)] = receive(schedule, problem, from);
    rounds.add(received[index(from)],
               schedule.send(problem.rank_at(to), block_between(problem, me, to)));
  }
  if (!reduces(problem.collective)) return schedule.done();
  for (Position v = me - 1; v >= 0; --v) schedule.combine(received[index(v)], Operand::left);
  for (Position v = me + 1; v < p; ++v) schedule.combine(received[index(v)], Operand::right);
  return schedule.done();
}

/// In round d position v sends to v + d and receives from v - d; a rank begins a round after both
/// messages of the round before (MPICH for large vectors):
///
///     p = 4    0>1 1>2 2>3 3>0    0>2 1>3 2>0 3>1    0>3 1>0 2>1 3>2
///
/// (p - 1)(alpha + m beta) if a rank sends and receives at the same time. A reduction combines in a
/// cyclic sequence.
Schedule direct_pairwise(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  for (int distance = 1; distance < p; ++distance) {
    const Position to = (me + distance) % p;
    const StepId received = receive(schedule, problem, (me - distance + p) % p);
    schedule.send(problem.rank_at(to), block_between(problem, me, to));
    if (reduces(problem.collective)) schedule.combine(received, Operand::left);
    schedule.wait_all();
  }
  return schedule.done();
}

}  // namespace tutti
