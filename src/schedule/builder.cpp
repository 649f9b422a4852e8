/// Appends steps to a schedule.
#include "schedule/builder.hpp"

#include <cassert>

namespace tutti {

ScheduleBuilder::ScheduleBuilder(const Problem& problem)
    : problem_(problem), schedule_{problem.collective, problem.p, problem.rank,
                                   problem.root,       {},        problem.parts} {}

Bytes ScheduleBuilder::bytes(const Blocks& blocks) const {
  Bytes bytes = 0;
  blocks.for_each_run([&](BlockRange run) { bytes += problem_.sizes.of(run); });
  return bytes;
}

Blocks ScheduleBuilder::cyclic(BlockIndex begin, BlockIndex count) const {
  const BlockIndex blocks = schedule_.blocks();
  begin %= blocks;
  const BlockIndex end = begin + count;
  if (end <= blocks) return BlockRange{begin, end};
  if (end - blocks >= begin) return BlockRange{0, blocks};
  return {{0, blocks}, {{end - blocks, begin}}};
}

StepId ScheduleBuilder::recv_staged(Rank from, const Blocks& blocks) {
  const StepId received = part(StepKind::recv, from, blocks, 0, bytes(blocks));
  if (received != none) schedule_.steps.back().staged = true;
  return received;
}

StepId ScheduleBuilder::await_staged(Rank from, BlockRange blocks) {
  const StepId awaited = await(from, blocks, true);
  schedule_.steps.back().staged = schedule_.steps.back().bytes > 0;
  return awaited;
}

StepId ScheduleBuilder::notify(Rank to, BlockRange blocks, bool carried) {
  const StepId step = append(StepKind::notify, to, blocks, 0, bytes(blocks));
  schedule_.steps.back().carries = carried;
  return step;
}

StepId ScheduleBuilder::await(Rank from, BlockRange blocks, bool carried) {
  const StepId step = append(StepKind::await, from, blocks, 0, bytes(blocks));
  schedule_.steps.back().carries = carried;
  return step;
}

StepId ScheduleBuilder::combine(StepId received, Operand operand) {
  if (received == none || schedule_.steps[index(received)].bytes == 0) {
    return none;
  }
  Step step = schedule_.steps[index(received)];
  assert(step.staged && reduces(schedule_.collective));
  step.kind = StepKind::reduce;
  step.staged = step.carries = false;
  step.after = received;
  step.operand = operand;
  schedule_.steps.push_back(std::move(step));
  return static_cast<StepId>(schedule_.steps.size()) - 1;
}

StepId ScheduleBuilder::part(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset,
                             Bytes bytes) {
  return bytes > 0 ? append(kind, peer, blocks, offset, bytes) : none;
}

StepId ScheduleBuilder::append(StepKind kind, Rank peer, const Blocks& blocks, Bytes offset,
                               Bytes bytes) {
  assert(0 <= peer && peer < schedule_.p && peer != schedule_.rank);
  assert(0 <= blocks.range.begin && blocks.range.begin <= blocks.range.end &&
         blocks.range.end <= schedule_.blocks());
  schedule_.steps.push_back(
      {.kind = kind, .peer = peer, .blocks = blocks, .offset = offset, .bytes = bytes});
  return static_cast<StepId>(schedule_.steps.size()) - 1;
}

void ScheduleBuilder::append(const Schedule& schedule) {
  assert(schedule.p == schedule_.p && schedule.rank == schedule_.rank &&
         schedule.blocks() == schedule_.blocks());
  const auto before = static_cast<StepId>(schedule_.steps.size());
  for (Step step : schedule.steps) {
    if (step.kind == StepKind::wait) {
      step.first += before;
      step.last += before;
    }
    if (step.after >= 0) step.after += before;
    schedule_.steps.push_back(std::move(step));
  }
}

void ScheduleBuilder::after(StepId step, StepId other) {
  if (step == none || other == none) return;
  assert(other < step);
  schedule_.steps[index(step)].after = other;
}

void ScheduleBuilder::limit(StepId step, int slots) {
  assert(slots >= 0);
  if (step != none) schedule_.steps[index(step)].slots = slots;
}

void ScheduleBuilder::wait(StepId step) {
  if (step == none) return;
  assert(index(step) < schedule_.steps.size());
  schedule_.steps.push_back({.kind = StepKind::wait, .first = step, .last = step + 1});
}

void ScheduleBuilder::wait_all() {
  const auto last = static_cast<StepId>(schedule_.steps.size());
  if (last > 0) schedule_.steps.push_back({.kind = StepKind::wait, .last = last});
}

}  // namespace tutti
