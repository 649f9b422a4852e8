/// Samples, their statistics, and what a tuning case says it measured.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/types.hpp"
#include "select/tuning_case.hpp"

namespace tutti {
namespace {

CallSamples samples_of(int count) {
  CallSamples samples;
  // In mixed sequence: 10, 70, 130, .. modulo the number of times.
  for (int i = 0; i < count; ++i) samples.add(10 * (1 + (i * 7) % count));
  return samples;
}

TEST(MedianInterval, NeedsSixTimes) {
  EXPECT_FALSE(median_interval(CallSamples()));
  EXPECT_FALSE(median_interval(samples_of(5)));  // 1 - 2 / 2^5 is 93.75 %
  const auto interval = median_interval(samples_of(6));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->least, 10);
  EXPECT_EQ(interval->most, 60);
  EXPECT_DOUBLE_EQ(interval->confidence, 1 - 2.0 / 64);
}

TEST(MedianInterval, IsTheNarrowestOf95Percent) {
  // P(B < 4) of binomial(16, 1/2) is (1 + 16 + 120 + 560) / 2^16; P(B < 5) exceeds 2.5 %.
  const auto interval = median_interval(samples_of(16));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->least, 40);
  EXPECT_EQ(interval->most, 130);
  EXPECT_DOUBLE_EQ(interval->confidence, 1 - 2.0 * 697 / 65536);
}

/// Runs windows until the case is settled. `times` are those of the candidates.
void settle(TuningCase& known, const std::vector<Nanoseconds>& times) {
  for (std::uint64_t calls = 8; !known.is_settled() && calls < 4000; calls += 8) {
    for (int i = 0; i < 8; ++i) {
      const bool explores = i < known.exploration().calls;
      const int candidate = explores ? known.exploration().candidate : known.selected();
      const Nanoseconds time = times[static_cast<std::size_t>(candidate)] + i % 3;
      known.add(candidate, {time, time, time});
    }
    known.conclude(calls);
    known.plan({1'000'000, 1'000'000}, calls);
  }
}

TEST(TuningEvidence, SaysWhatBecameOfEachCandidate) {
  TuningCase known;
  known.set_candidates(5);
  known.exclude(4);
  settle(known, {10'000, 20'000, 5'000, 4'950, 1});
  ASSERT_TRUE(known.is_settled());
  const std::vector<CandidateEvidence> all = known.measurements();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(known.selected(), 2);
  EXPECT_EQ(all[0].state, CandidateState::slower);
  EXPECT_EQ(all[0].median, 10'001);
  ASSERT_TRUE(all[0].interval);
  EXPECT_GE(all[0].interval->least, 10'000);
  EXPECT_LE(all[0].interval->most, 10'002);
  EXPECT_EQ(all[1].state, CandidateState::slower);
  EXPECT_EQ(all[2].state, CandidateState::selected);
  EXPECT_EQ(all[3].state, CandidateState::dropped);  // 16 calls did not show a gain of 3 %
  EXPECT_EQ(all[4].state, CandidateState::unable);
  EXPECT_EQ(all[4].calls, 0);
}

TEST(TuningEvidence, CountsWhatExploringCost) {
  TuningCase known;
  known.set_candidates(2);
  settle(known, {10'000, 13'000});
  ASSERT_TRUE(known.is_settled());
  EXPECT_GT(known.explored(), 0);
  // Each explored call took 3 us more than the median of the MPI's own, give or take 2 ns.
  const auto explored = static_cast<Nanoseconds>(known.explored());
  EXPECT_NEAR(static_cast<double>(known.lost()), 3000.0 * static_cast<double>(explored),
              2.0 * static_cast<double>(explored));
}

TEST(TuningEvidence, SupportsASelectionThatIsExploredAgain) {
  TuningCase known;
  known.set_candidates(2);
  settle(known, {10'000, 5'000});
  ASSERT_EQ(known.selected(), 1);
  known.reopen();
  EXPECT_EQ(known.selected(), 1);
  EXPECT_EQ(known.reason().find("measured 2.0x faster"), 0U) << known.reason();
}

TEST(TuningEvidence, OutlivesTheRace) {
  TuningCase known;
  known.set_candidates(2);
  settle(known, {10'000, 5'000});
  ASSERT_EQ(known.selected(), 1);
  known.plan({}, 4000);  // compares anew, without the times of the race
  const CandidateEvidence native = known.measurements()[0];
  EXPECT_GE(native.calls, 4);
  EXPECT_EQ(native.median, 10'001);
}

TEST(SizeClass, HoldsBlocksUpToAPowerOfTwo) {
  EXPECT_EQ(class_of(0), 0);
  EXPECT_EQ(class_of(1), 1);
  EXPECT_EQ(class_of(1025), 12);
  EXPECT_EQ(class_of(2048), 12);
  EXPECT_EQ(largest_of(12), 2048);
  for (Bytes bytes = 1; bytes < 5000; ++bytes) {
    EXPECT_LE(bytes, largest_of(class_of(bytes)));
    EXPECT_GT(bytes, largest_of(class_of(bytes) - 1));
  }
  EXPECT_EQ(class_of(Bytes{1} << 31), 32);
  EXPECT_EQ(class_of((Bytes{1} << 31) + 1), 33);
  EXPECT_EQ(largest_of(33), Bytes{1} << 32);
  EXPECT_LT(class_of(std::numeric_limits<Bytes>::max()), size_classes);
}

TEST(CallSamples, ScoreOfTheMannWhitneyTest) {
  CallSamples shorter;
  CallSamples longer;
  EXPECT_EQ(shorter_score(shorter, longer), 0);
  for (const Nanoseconds time : {1, 2, 3, 4}) shorter.add(time);
  for (const Nanoseconds time : {5, 6, 7, 8}) longer.add(time);
  // U = 16 of 16 pairs; (16 - 8 - 1/2) / sqrt(4 * 4 * 9 / 12).
  EXPECT_NEAR(shorter_score(shorter, longer), 7.5 / std::sqrt(12), 1e-12);
  EXPECT_NEAR(shorter_score(longer, shorter), -8.5 / std::sqrt(12), 1e-12);
  EXPECT_NEAR(shorter_score(longer, longer), -0.5 / std::sqrt(12), 1e-12);
}

/// Of all ways in which two samples of equal distribution may lie, those in which the first one
/// counts as shorter at 2.5 %.
double level_of(int calls, int others) {
  const int all = calls + others;
  int ways = 0;
  int shorter = 0;
  for (unsigned of_first = 0; of_first < 1U << all; ++of_first) {
    if (std::popcount(of_first) != calls) continue;
    CallSamples first;
    CallSamples second;
    for (int time = 0; time < all; ++time) {
      (((of_first >> time) & 1U) != 0 ? first : second).add(time);
    }
    ++ways;
    shorter += shorter_score(first, second) > 1.96 ? 1 : 0;
  }
  return static_cast<double>(shorter) / ways;
}

TEST(CallSamples, TheMannWhitneyTestKeepsItsLevelForFewCalls) {
  for (int calls = 3; calls <= 6; ++calls) {
    for (int others = 3; others <= 6; ++others) EXPECT_LE(level_of(calls, others), 0.025);
  }
  EXPECT_NEAR(level_of(4, 4), 1.0 / 70, 1e-12);
  EXPECT_GE(level_of(6, 6), 0.02);
}

TEST(CallSamples, KeepTheLatest) {
  CallSamples samples;
  for (Nanoseconds time = 1; time <= 40; ++time) samples.add(time);
  EXPECT_EQ(samples.count(), 16);
  EXPECT_EQ(samples.median(), 32);  // of 25..40
  EXPECT_EQ(samples.latest(2).times(), (std::vector<Nanoseconds>{39, 40}));
  EXPECT_EQ(samples.latest(99).count(), 16);
}

TEST(CallSamples, TrimmedMeanLeavesOutTheLongestOfEveryEight) {
  CallSamples samples;
  for (const Nanoseconds time : {10, 90}) samples.add(time);
  EXPECT_EQ(samples.trimmed_mean(), 10) << "at least one is left out";
  for (int i = 0; i < 13; ++i) samples.add(20);
  EXPECT_EQ(samples.trimmed_mean(), (10 + 13 * 20) / 14) << "without 90";
  samples.add(1000);
  EXPECT_EQ(samples.trimmed_mean(), (10 + 13 * 20) / 14) << "of 16 without 90 and 1000";
}

TEST(CallSamples, CallsWithMoreThanTheirShareOfTheTimeAreNoOutliers) {
  CallSamples samples;
  for (int call = 0; call < 8; ++call) samples.add(call == 3 ? 1000 : 10, call == 3 ? 4000 : 10);
  EXPECT_EQ(samples.trimmed_mean(), (1000 + 6 * 10) / 7);
  EXPECT_EQ(samples.latest(4).trimmed_mean(), 10);
  CallSamples many(32);
  for (int call = 0; call < 32; ++call) many.add(call == 3 ? 1000 : 10, call == 3 ? 100 : 10);
  EXPECT_EQ(many.trimmed_mean(), (1000 + 27 * 10) / 28);
}

TEST(CallSamples, AStallIsAnOutlierThoughWeightsVaryALittle) {
  CallSamples samples;
  for (int call = 0; call < 6; ++call) samples.add(call == 5 ? 9000 : 10, 100 + call);
  EXPECT_EQ(samples.trimmed_mean(), 10);
}

TEST(NativeOfSizes, CountsCallsInUnitsOfTheMpisOwnOfTheirSize) {
  NativeOfSizes natives;
  const auto add = [&natives](bool is_native, Nanoseconds time, SizeClass size) {
    return natives.add(is_native, {time, time, 2 * time}, size);
  };
  EXPECT_FALSE(add(true, 128, 3).is_known);
  EXPECT_FALSE(add(true, 128, 3).is_known);
  EXPECT_EQ(add(true, 128, 3).relative.after_last, 128);
  for (int call = 0; call < 3; ++call) add(true, 1024, 8);
  const SizedTimes faster = add(false, 960, 8);
  EXPECT_TRUE(faster.is_known);
  EXPECT_EQ(faster.relative.after_last, 120);
  EXPECT_EQ(faster.relative.max, 240);
  EXPECT_EQ(faster.absolute, 128 - (1024 - 960)) << "it saves as much";
  EXPECT_EQ(faster.native, 1024);
  EXPECT_EQ(faster.weight, 1024);
  EXPECT_FALSE(add(false, 960, 9).is_known) << "what the MPI's own takes is not known";
}

TEST(NativeOfSizes, MayBeginWithASizeThatOnlyACandidateRan) {
  NativeOfSizes natives;
  EXPECT_FALSE(natives.add(false, {50, 50, 50}, 3).is_known);
  for (int call = 0; call < 2; ++call) natives.add(true, {100, 100, 100}, 8);
  EXPECT_EQ(natives.add(true, {100, 100, 100}, 8).relative.after_last, 100);
}

}  // namespace
}  // namespace tutti
