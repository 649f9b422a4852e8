/// Pull scatter: the root serves whoever asks, in the sequence in which they ask.
#include "schedule/builder.hpp"

namespace tutti {

/// Each rank that has come asks with a message without bytes; its block depends on its own request
/// and on nothing else. No prediction is needed, and no late rank holds up another, whatever the
/// MPI does with messages whose receiver is not there. `flight` bounds the blocks on the way.
///
///     root   await 1  await 2  ..  send 1 (after await 1)  send 2 (after await 2)  ..
///
/// (p - 1)(2 alpha + m beta) at most. Ranks without bytes do not ask.
Schedule scatter_linear_pull(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const Position me = problem.position();
  if (!problem.at_root()) {
    const BlockRange own = {me, me + 1};
    if (schedule.bytes(own) == 0) return schedule.done();
    schedule.signal(problem.root);
    schedule.recv(problem.root, own);
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    const BlockRange block = {to, to + 1};
    if (schedule.bytes(block) == 0) continue;
    const StepId asked = schedule.await_signal(problem.rank_at(to));
    const StepId sent = schedule.send(problem.rank_at(to), block);
    schedule.after(sent, asked);
    schedule.limit(sent, problem.parameters.flight);
  }
  return schedule.done();
}

}  // namespace tutti
