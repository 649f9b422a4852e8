/// Pull gather: the root takes the blocks of those who have come, a few at a time.
#include "schedule/builder.hpp"

namespace tutti {

/// The synchronised gather without its fixed sequence: a rank announces itself with a message
/// without bytes, and the root posts the receive of its block when one of `flight` slots is free.
/// A block too large to be sent unasked moves only then, so that no more than `flight` of them
/// crowd the root's link, and the link never waits for a late rank: any sequence that does not
/// idle is optimal in the linear class, so that no prediction is needed.
///
///     root   await 1  await 2  ..  recv 1 (after await 1, a slot)  recv 2 (after await 2, a slot)
///
/// (p - 1)(2 alpha + m beta) at most. Ranks without bytes do not announce themselves.
Schedule gather_linear_pull(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    const BlockRange own = {me, me + 1};
    if (schedule.bytes(own) == 0) return schedule.done();
    schedule.signal(problem.root);
    schedule.send(problem.root, own);
    return schedule.done();
  }
  for (Position from = 1; from < problem.p; ++from) {
    const BlockRange block = {from, from + 1};
    if (schedule.bytes(block) == 0) continue;
    const StepId announced = schedule.await_signal(problem.rank_at(from));
    const StepId taken = schedule.recv(problem.rank_at(from), block);
    schedule.after(taken, announced);
    schedule.limit(taken, problem.parameters.flight);
  }
  return schedule.done();
}

}  // namespace tutti
