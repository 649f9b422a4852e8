/// Linear rooted collectives: the root and each other rank exchange one message.
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

/// The root's p - 1 messages are all in flight at once, or one after the other if `in_sequence`.
Schedule exchange_all(const Problem& problem, bool in_sequence) {
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

}  // namespace

///     p = 6, root 2, rotated
///         2 -+- 3
///            +- 4
///            +- 5
///            +- 0
///            +- 1
///
/// All p - 1 messages are in flight at once: (p - 1)(alpha + m beta).
Schedule linear(const Problem& problem) { return exchange_all(problem, false); }

/// LIN of Proficz 2020, section 2.1: a late rank delays all ranks after it in the order.
Schedule linear_sequence(const Problem& problem) { return exchange_all(problem, true); }

/// The root serves ranks in the sequence of their requests. A rank announces its arrival with a
/// message without bytes and posts its data message at once; ranks without bytes to exchange do
/// not. The root posts its side when the rank has announced itself and one of `flight` slots is
/// free. A rendezvous message moves only then, so at most `flight` blocks share the root's link.
/// Whether the MPI sends eagerly or not, a late rank delays no other. Any sequence that does not
/// idle is optimal among linear gathers, so this needs no prediction:
///
///     root   await 1  await 2  ..  recv 1 (after await 1, a slot)  recv 2 (after await 2, a slot)
///
/// (p - 1)(2 alpha + m beta) at most. As a broadcast it is the online part of Patarasuk and Yuan's
/// (2008), without its forwarding along the list of arrived ranks.
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

/// A rank that receives posts the first segment of a block and signals its sender, which then sends
/// that segment and the rest (Proficz 2020, LS, section 4.2; Open MPI's linear_sync). The root
/// serves one rank after the other and goes on after the first segment, so the rest overlaps the
/// next rank's signal and first segment. Ranks without bytes neither signal nor wait:
///
///     gather    recv first(1)  signal 1  recv rest(1)  wait first(1)  recv first(2)  signal 2 ..
///     scatter   await 1  send first(1)  send rest(1)  wait first(1)  await 2  send first(2) ..
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

/// The root combines lower ranks into its contribution from the left, then higher ranks from the
/// right:
///
///     p = 5, root 2    1 op 2    0 op (1 2)    (0 1 2) op 3    (0 1 2 3) op 4
///
/// All p - 1 messages are in flight at once; (p - 1)(alpha + m beta) and as many combinations.
Schedule reduce_linear(const Problem& problem) {
  constexpr BlockRange vector = {0, 1};
  ScheduleBuilder schedule(problem);
  if (!problem.at_root()) {
    schedule.send(problem.root, vector);
    return schedule.done();
  }
  for (Rank from = problem.root - 1; from >= 0; --from) {
    schedule.reduce(from, vector, Operand::left);
  }
  for (Rank from = problem.root + 1; from < problem.p; ++from) {
    schedule.reduce(from, vector, Operand::right);
  }
  return schedule.done();
}

}  // namespace tutti
