/// Builds one rank's schedule; knows the sizes, so that an algorithm need not.
#pragma once

#include <utility>

#include "core/problem.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// Appends steps for the rank of `problem`. Messages without bytes are left out, at both
/// ends alike, because both ends know their size; signals, which carry none, are kept.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(const Problem& problem);

  /// Sends or receives whole blocks. Returns the step, or `none` if it was left out.
  StepId send(Rank to, BlockRange blocks) { return message(StepKind::send, to, blocks); }
  StepId recv(Rank from, BlockRange blocks) { return message(StepKind::recv, from, blocks); }
  /// Whole blocks whose bytes are known otherwise (grown trees, holes).
  StepId send(Rank to, const Blocks& blocks, Bytes bytes) {
    return part(StepKind::send, to, blocks, 0, bytes);
  }
  StepId recv(Rank from, const Blocks& blocks, Bytes bytes) {
    return part(StepKind::recv, from, blocks, 0, bytes);
  }
  /// The bytes [offset, offset + bytes) of the packed blocks.
  StepId part(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset, Bytes bytes);

  /// Sends or receives a cyclic range of blocks: `count` from `begin` on, modulo their number.
  StepId send_cyclic(Rank to, Position begin, int count) {
    return cyclic(StepKind::send, to, begin, count);
  }
  StepId recv_cyclic(Rank from, Position begin, int count) {
    return cyclic(StepKind::recv, from, begin, count);
  }

  /// Receives blocks into staging memory, for a later `combine`. The message needs nothing.
  StepId recv_staged(Rank from, const Blocks& blocks);
  /// The same of what a notification carries, which comes without bytes too.
  StepId await_staged(Rank from, const Blocks& blocks);
  /// Combines what `received` has staged into the blocks held, on the side that `operand` says,
  /// once what it changes has been sent. Nothing for `none`.
  StepId combine(StepId received, Operand operand);
  /// Both, one after the other. Returns the step that combines, or `none`.
  StepId reduce(Rank from, const Blocks& blocks, Operand operand) {
    return combine(recv_staged(from, blocks), operand);
  }
  StepId reduce(Rank from, BlockRange blocks, Operand operand) {
    return reduce(from, Blocks(blocks), operand);
  }

  /// A message without bytes.
  StepId signal(Rank to) { return append(StepKind::send, to, {}, 0, 0); }
  StepId await_signal(Rank from) { return append(StepKind::recv, from, {}, 0, 0); }

  /// Blocks into `to`'s memory; left out if they are empty.
  StepId put(Rank to, BlockRange blocks) { return message(StepKind::put, to, blocks); }
  /// What describes the operation, into `to`'s memory.
  StepId put_description(Rank to) { return append(StepKind::put, to, {}, 0, 0); }
  /// Waits for what has been put there.
  StepId flush(Rank to) { return append(StepKind::flush, to, {}, 0, 0); }
  /// Tells `to` that the blocks are in its memory, or awaits that; also of empty blocks.
  StepId notify(Rank to, BlockRange blocks) {
    return append(StepKind::notify, to, blocks, 0, bytes(blocks));
  }
  StepId await(Rank from, BlockRange blocks) {
    return append(StepKind::await, from, blocks, 0, bytes(blocks));
  }
  /// The same with the bytes in the notification.
  StepId notify_with(Rank to, BlockRange blocks);

  /// Appends the steps of a schedule of the same rank, which need what was there before only for
  /// the blocks that they read or change.
  void append(const Schedule& schedule);

  /// `step` starts after the earlier step `other` has completed; nothing if either is `none`.
  void after(StepId step, StepId other);
  /// Of the steps with slots at most `slots` are in flight at once; nothing for `none`.
  void limit(StepId step, int slots);
  /// Later steps start after `step` has completed; nothing for `none`.
  void wait(StepId step);
  /// Later steps start after all earlier ones have completed.
  void wait_all();

  [[nodiscard]] Bytes bytes(BlockRange blocks) const { return problem_.sizes.of(blocks); }
  [[nodiscard]] Bytes bytes(const Blocks& blocks) const;
  /// `count` blocks from `begin` on, modulo their number.
  [[nodiscard]] Blocks cyclic(Position begin, int count) const;
  [[nodiscard]] Schedule done() { return std::move(schedule_); }

  static constexpr StepId none = -1;

 private:
  StepId message(StepKind kind, Rank peer, BlockRange blocks) {
    return part(kind, peer, blocks, 0, bytes(blocks));
  }
  StepId cyclic(StepKind kind, Rank peer, Position begin, int count) {
    const Blocks blocks = cyclic(begin, count);
    return part(kind, peer, blocks, 0, bytes(blocks));
  }
  StepId append(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset, Bytes bytes);

  const Problem& problem_;
  Schedule schedule_;
};

}  // namespace tutti
