/// Schedules as text.
#include <gtest/gtest.h>

#include "schedule/schedule.hpp"

namespace tutti {
namespace {

Step step_with(StepKind kind, Rank peer, const Blocks& blocks, Bytes bytes) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  step.blocks = blocks;
  step.bytes = bytes;
  return step;
}

TEST(ScheduleText, ShowsAllThatAStepHas) {
  Schedule schedule{Collective::allreduce, 11, 3, 9, {}, 2};
  Step wait;
  wait.kind = StepKind::wait;
  wait.last = 2;
  Step send = step_with(StepKind::send, 9, {{0, 8}, {{2, 3}, {4, 6}}}, 12);
  send.offset = 4;
  send.runner = Runner::background;
  Step staged = step_with(StepKind::recv, 2, BlockRange{2, 3}, Bytes{1} << 40);
  staged.staged = true;
  staged.slots = 2;
  Step reduce = step_with(StepKind::reduce, 2, BlockRange{2, 3}, 8);
  reduce.after = 2;
  Step replaces = reduce;
  replaces.operand = Operand::only;
  Step carried = step_with(StepKind::notify, 1, BlockRange{0, 1}, 7);
  carried.carries = true;
  schedule.steps = {wait, send, staged, reduce, replaces, carried};
  EXPECT_EQ(to_text(schedule),
            "allreduce p 11 rank 3 root 9 parts 2\n"
            "0 wait 0-2\n"
            "1 send 9 [0,8) 12 without [2,3) [4,6) from 4 background\n"
            "2 recv 2 [2,3) 1099511627776 slots 2 staged\n"
            "3 reduce 2 [2,3) 8 after 2 left\n"
            "4 reduce 2 [2,3) 8 after 2 only\n"
            "5 notify 1 [0,1) 7 carried\n");
}

TEST(Blocks, VisitsTheRunsBetweenHoles) {
  const auto runs = [](const Blocks& blocks) {
    std::vector<BlockRange> all;
    blocks.for_each_run([&](BlockRange run) { all.push_back(run); });
    return all;
  };
  EXPECT_EQ(runs(BlockRange{2, 5}), (std::vector<BlockRange>{{2, 5}}));
  EXPECT_EQ(runs({{2, 9}, {{2, 4}, {6, 7}}}), (std::vector<BlockRange>{{4, 6}, {7, 9}}));
  EXPECT_EQ(runs({{2, 9}, {{2, 9}}}), std::vector<BlockRange>{});
}

}  // namespace
}  // namespace tutti
