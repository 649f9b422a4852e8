/// Schedules as text: what is written reads back.
#include <gtest/gtest.h>

#include <random>

#include "schedule/schedule.hpp"

namespace tutti {
namespace {

Schedule random_schedule(std::mt19937_64& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Schedule schedule;
  schedule.collective = gathers_and_scatters[static_cast<std::size_t>(below(4))];
  schedule.p = 2 + below(2000);
  schedule.rank = below(schedule.p);
  schedule.root = below(schedule.p);
  for (int steps = below(12); steps > 0; --steps) {
    Step step;
    step.kind = static_cast<StepKind>(below(8));
    if (step.kind == StepKind::wait) {
      step.first = below(10);
      step.last = step.first + below(10);
    } else {
      step.runner = below(2) == 0 ? Runner::caller : Runner::background;
      step.peer = below(schedule.p + 1) - 1;
      step.blocks.range.begin = below(schedule.p);
      BlockIndex at = step.blocks.range.begin;
      for (int holes = below(3); holes > 0; --holes) {
        const BlockIndex begin = at + below(5);
        at = begin + 1 + below(5);
        step.blocks.holes.push_back({begin, at});
      }
      step.blocks.range.end = at + below(5);
      step.bytes = static_cast<Bytes>(random() >> 2);
      if (step.kind == StepKind::reduce) step.operand = static_cast<Operand>(below(3));
      step.offset = below(2) == 0 ? 0 : static_cast<Bytes>(random() >> 2);
    }
    schedule.steps.push_back(step);
  }
  return schedule;
}

TEST(ScheduleText, ReadsBackExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const Schedule schedule = random_schedule(random);
    const std::string text = to_text(schedule);
    const auto read = from_text(text);
    ASSERT_TRUE(read) << read.error();
    ASSERT_EQ(*read, schedule) << text;
    ASSERT_EQ(to_text(*read), text);
  }
}

TEST(ScheduleText, ToleratesBlankLinesAndSpaces) {
  const auto schedule = from_text("\n scatter p 3 rank 1 root 0\r\n\n  0  recv 0 [1,2)  7 \r\n");
  ASSERT_TRUE(schedule) << schedule.error();
  EXPECT_EQ(to_text(*schedule), "scatter p 3 rank 1 root 0\n0 recv 0 [1,2) 7\n");
}

TEST(ScheduleText, SurvivesRandomDamage) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    std::string text = to_text(random_schedule(random));
    text[random() % text.size()] = static_cast<char>(random() % 256);
    const auto read = from_text(text);
    if (!read) {
      EXPECT_FALSE(read.error().empty());
    }
  }
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
