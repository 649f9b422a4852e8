/// Linear synchronised scatter: the root sends to a rank after the rank's signal.
#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

/// The mirror of the synchronised gather: a rank signals its arrival, the root sends the first
/// segment and the rest, and continues with the next rank after the first segment.
///
///     root   await 1  send first(1)  send rest(1)  wait first(1)  await 2  send first(2) ..
///
/// Ranks without bytes do not signal.
Schedule scatter_linear_sync(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const auto send_or_receive = [&](StepKind kind, Rank peer, BlockRange block) {
    const Bytes bytes = schedule.bytes(block);
    const Bytes split = std::min(problem.parameters.segment, bytes);
    const StepId first = schedule.part(kind, peer, block, 0, split);
    const StepId rest = schedule.part(kind, peer, block, split, bytes - split);
    return first != ScheduleBuilder::none ? first : rest;
  };
  const Position me = problem.position();
  if (!problem.at_root()) {
    if (schedule.bytes({me, me + 1}) == 0) return schedule.done();
    schedule.signal(problem.root);
    send_or_receive(StepKind::recv, problem.root, {me, me + 1});
    return schedule.done();
  }
  for (Position to = 1; to < problem.p; ++to) {
    if (schedule.bytes({to, to + 1}) == 0) continue;
    schedule.wait(schedule.await_signal(problem.rank_at(to)));
    schedule.wait(send_or_receive(StepKind::send, problem.rank_at(to), {to, to + 1}));
  }
  return schedule.done();
}

}  // namespace tutti
