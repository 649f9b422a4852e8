/// Linear and pairwise reduce_scatter: every contribution goes directly to its block's rank.
#include "schedule/builder.hpp"

namespace tutti {

/// Each rank combines lower ranks into its contribution from the left, then higher ranks from the
/// right, so any associative operation is valid. Messages of up to 8 distances are in flight at
/// once; (p - 1) alpha + (M - m) beta.
Schedule reduce_scatter_linear(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Rank me = problem.rank;
  FewRounds rounds(schedule);
  std::vector<StepId> received(index(p), ScheduleBuilder::none);
  for (int distance = 1; distance < p; ++distance) {
    const Rank to = (me + distance) % p;
    const Rank from = (me - distance + p) % p;
    const StepId sent = schedule.send(to, {to, to + 1});
    received[index(from)] = schedule.recv_staged(from, BlockRange{me, me + 1});
    rounds.add(received[index(from)], sent);
  }
  const auto combine = [&](Rank from, Operand operand) {
    schedule.combine(received[index(from)], operand);
  };
  for (Rank from = me - 1; from >= 0; --from) combine(from, Operand::left);
  for (Rank from = me + 1; from < p; ++from) combine(from, Operand::right);
  return schedule.done();
}

/// In round d position v sends its contribution to block v + d to that position and combines the
/// one from v - d; rounds run one after the other (MPICH for large vectors). (p - 1)(alpha + m
/// beta) if a rank sends and receives at the same time. Combines in a cyclic sequence.
Schedule reduce_scatter_pairwise(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const int p = problem.p;
  const Position me = problem.position();
  for (int distance = 1; distance < p; ++distance) {
    const Position to = (me + distance) % p;
    schedule.send(problem.rank_at(to), {to, to + 1});
    schedule.reduce(problem.rank_at((me - distance + p) % p), {me, me + 1}, Operand::left);
    schedule.wait_all();
  }
  return schedule.done();
}

}  // namespace tutti
