/// Builds one rank's schedule from block ranges; it derives the bytes itself.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "core/problem.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// Appends steps for the rank of `problem`. Omits messages without bytes; their sender and
/// receiver both know the size, so both omit them. Keeps signals, which are empty by intent.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const Problem& problem);

  /// Sends or receives whole blocks. Returns the step, or `none` if it is omitted.
  StepId send(Rank to, const Blocks& blocks) {
    return part(StepKind::send, to, blocks, 0, bytes(blocks));
  }
  StepId recv(Rank from, const Blocks& blocks) {
    return part(StepKind::recv, from, blocks, 0, bytes(blocks));
  }
  /// Sends or receives the bytes [offset, offset + bytes) of the packed blocks.
  StepId part(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset, Bytes bytes);

  /// Receives blocks into staging memory, for a later combine(). No blocks need it to wait.
  StepId recv_staged(Rank from, const Blocks& blocks);
  /// The same for blocks that a notification carries. Not omitted when empty.
  StepId await_staged(Rank from, BlockRange blocks);
  /// Combines the blocks that step `received` staged with the blocks held; `operand` is the side of
  /// the staged ones. Runs after earlier sends of these blocks. Steps may combine the same staged
  /// blocks several times. No-op for `none`.
  StepId combine(StepId received, Operand operand);
  /// recv_staged(), then combine(). Returns the step that combines, or `none`.
  StepId reduce(Rank from, const Blocks& blocks, Operand operand) {
    return combine(recv_staged(from, blocks), operand);
  }

  /// Sends or receives a message without bytes.
  StepId signal(Rank to) { return append(StepKind::send, to, {}, 0, 0); }
  StepId await_signal(Rank from) { return append(StepKind::recv, from, {}, 0, 0); }

  /// Puts blocks into `to`'s memory; omitted if they are empty.
  StepId put(Rank to, BlockRange blocks) {
    return part(StepKind::put, to, blocks, 0, bytes(blocks));
  }
  /// Puts the description of the operation into `to`'s memory.
  StepId put_description(Rank to) { return append(StepKind::put, to, {}, 0, 0); }
  /// Waits until all earlier puts to `to` have completed.
  StepId flush(Rank to) { return append(StepKind::flush, to, {}, 0, 0); }
  /// Notifies `to` that the blocks are in its memory, or awaits this from `from`: with `carried`,
  /// the notification carries their bytes. Not omitted when the blocks are empty.
  StepId notify(Rank to, BlockRange blocks, bool carried = false);
  StepId await(Rank from, BlockRange blocks, bool carried = false);

  /// Appends the steps of a schedule of the same rank. They need earlier steps only for the blocks
  /// that they read or change.
  void append(const Schedule& schedule);

  /// `step` starts after the earlier step `other` has completed. No-op if either is `none`.
  void after(StepId step, StepId other);
  /// Sets Step::slots: at most `slots` steps with slots are in flight at once. No-op for `none`.
  void limit(StepId step, int slots);
  /// Later steps start after `step` has completed. No-op for `none`.
  void wait(StepId step);
  /// Later steps start after all earlier ones have completed.
  void wait_all();

  [[nodiscard]] Bytes bytes(const Blocks& blocks) const;
  /// `count` blocks from `begin` on, modulo the number of blocks.
  [[nodiscard]] Blocks cyclic(BlockIndex begin, BlockIndex count) const;
  [[nodiscard]] Schedule done() { return std::move(schedule_); }

  static constexpr StepId none = -1;

 private:
  StepId append(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset, Bytes bytes);

  const Problem& problem_;
  Schedule schedule_;
};

/// Keeps the requests of a rank few in an algorithm of many rounds: the messages of a round start
/// once the receive of the 8th round before it has completed, or its send where it has no receive.
/// So many keep a link busy whose latency is up to 8 times what a processor takes for a message. A
/// message must belong to the same round at both ends, and all ranks must add rounds in the same
/// sequence; rounds without messages do not count.
class FewRounds {
 public:
  explicit FewRounds(ScheduleBuilder& schedule) : schedule_(schedule) {
    latest_.fill(ScheduleBuilder::none);
  }
  /// The messages of the next round; `none` for those without bytes, and for a send that starts
  /// after another step.
  void add(StepId received, StepId sent = ScheduleBuilder::none) {
    const StepId awaited = received != ScheduleBuilder::none ? received : sent;
    if (awaited == ScheduleBuilder::none) return;
    schedule_.after(received, latest_[oldest_]);
    schedule_.after(sent, latest_[oldest_]);
    latest_[oldest_] = awaited;
    oldest_ = (oldest_ + 1) % latest_.size();
  }

 private:
  ScheduleBuilder& schedule_;
  std::array<StepId, 8> latest_{};  ///< what the last 8 rounds are awaited by
  std::size_t oldest_ = 0;
};

}  // namespace tutti
