/// One message between the root and each other rank.
#include "algorithms/linear.hpp"

#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti {

namespace {

/// The blocks that the root and the rank at `position` exchange: the vector in a broadcast, else
/// the block of that rank.
BlockRange exchanged(const Problem& problem, Position position) {
  if (block_kind(problem.collective) == BlockKind::parts) return {0, problem.parts};
  return {position, position + 1};
}

/// The root sends, unless data flows to it.
bool sends(const Problem& problem) {
  return flows_to_root(problem.collective) != problem.at_root();
}

/// The send or receive of this rank's message with `peer`.
StepId message(ScheduleBuilder& schedule, const Problem& problem, Rank peer, BlockRange blocks) {
  return sends(problem) ? schedule.send(peer, blocks) : schedule.recv(peer, blocks);
}

}  // namespace

Schedule linear(const Problem& problem, bool in_sequence) {
  ScheduleBuilder schedule(problem);
  if (!problem.at_root()) {
    message(schedule, problem, problem.root, exchanged(problem, problem.position()));
    return schedule.done();
  }
  for (Position other = 0; other < problem.p; ++other) {
    if (other == problem.position()) continue;
    const StepId step =
        message(schedule, problem, problem.rank_at(other), exchanged(problem, other));
    if (in_sequence) schedule.wait(step);
  }
  return schedule.done();
}

Schedule linear_pull(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  if (!problem.at_root()) {
    const BlockRange own = exchanged(problem, problem.position());
    if (schedule.bytes(own) == 0) return schedule.done();
    schedule.signal(problem.root);
    message(schedule, problem, problem.root, own);
    return schedule.done();
  }
  for (Position other = 0; other < problem.p; ++other) {
    const BlockRange blocks = exchanged(problem, other);
    if (other == problem.position() || schedule.bytes(blocks) == 0) continue;
    const Rank rank = problem.rank_at(other);
    const StepId announced = schedule.await_signal(rank);
    const StepId moved = message(schedule, problem, rank, blocks);
    schedule.after(moved, announced);
    schedule.limit(moved, problem.parameters.flight);
  }
  return schedule.done();
}

Schedule linear_sync(const Problem& problem) {
  ScheduleBuilder schedule(problem);
  const bool sender = sends(problem);
  // Returns the step after which the root goes on; none if the block is empty.
  const auto exchange = [&](Rank peer, BlockRange block) {
    const Bytes bytes = schedule.bytes(block);
    if (bytes == 0) return ScheduleBuilder::none;
    const Bytes split = std::min(problem.parameters.segment, bytes);
    const StepKind kind = sender ? StepKind::send : StepKind::recv;
    if (sender) schedule.wait(schedule.await_signal(peer));
    const StepId first = schedule.part(kind, peer, block, 0, split);
    if (!sender) schedule.signal(peer);
    const StepId rest = schedule.part(kind, peer, block, split, bytes - split);
    return first != ScheduleBuilder::none ? first : rest;
  };
  if (!problem.at_root()) {
    exchange(problem.root, exchanged(problem, problem.position()));
    return schedule.done();
  }
  for (Position other = 1; other < problem.p; ++other) {
    schedule.wait(exchange(problem.rank_at(other), exchanged(problem, other)));
  }
  return schedule.done();
}

}  // namespace tutti
