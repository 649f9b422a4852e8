/// Linear synchronised gather: the root signals one rank after the other, so at most two transfers
/// are in flight.
#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

/// Each rank waits for a message without bytes, then sends its first segment and the rest
/// (Proficz 2020, LS, section 4.2; Open MPI's linear_sync):
///
///     root   recv first(1)  signal 1  recv rest(1)  wait first(1)  recv first(2)  signal 2 ..
///
/// The rest of one rank thus overlaps the signal to the next rank and its first segment. The root
/// does not signal ranks without bytes.
Schedule gather_linear_sync(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const auto split = [&](BlockRange block) {
    return std::min(problem.parameters.segment, schedule.bytes(block));
  };
  if (!problem.at_root()) {
    const Position me = problem.position();
    const BlockRange own = {me, me + 1};
    if (schedule.bytes(own) == 0) return schedule.done();
    schedule.wait(schedule.await_signal(problem.root));
    schedule.part(StepKind::send, problem.root, own, 0, split(own));
    schedule.part(StepKind::send, problem.root, own, split(own), schedule.bytes(own) - split(own));
    return schedule.done();
  }
  for (Position from = 1; from < problem.p; ++from) {
    const BlockRange block = {from, from + 1};
    const Rank peer = problem.rank_at(from);
    if (schedule.bytes(block) == 0) continue;
    const StepId first = schedule.part(StepKind::recv, peer, block, 0, split(block));
    schedule.signal(peer);
    const StepId rest = schedule.part(StepKind::recv, peer, block, split(block),
                                      schedule.bytes(block) - split(block));
    schedule.wait(first != ScheduleBuilder::none ? first : rest);
  }
  return schedule.done();
}

}  // namespace tutti
