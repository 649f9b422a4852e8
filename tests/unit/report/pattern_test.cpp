/// What ranks did with their time at a call, by hand, and who is named as late.
#include "report/pattern.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// A call of which each rank arrives and leaves at the given times.
CallTimes call_of(Rank root, const std::vector<std::pair<float, float>>& ranks) {
  CallTimes call;
  call.root = root;
  for (const auto& [arrival, exit] : ranks) {
    call.delays.push_back(arrival);
    call.elapsed.push_back(exit - arrival);
  }
  return call;
}

void expect_parts(const Parts& parts, double waiting, double held, double moving) {
  EXPECT_FLOAT_EQ(static_cast<float>(parts.waiting), static_cast<float>(waiting));
  EXPECT_FLOAT_EQ(static_cast<float>(parts.held), static_cast<float>(held));
  EXPECT_FLOAT_EQ(static_cast<float>(parts.moving), static_cast<float>(moving));
}

TEST(Parts, TheRootWaitsForTheLastRank) {
  const auto parts = parts_of(call_of(0, {{0, 10}, {1, 2}, {8, 9}}));
  expect_parts(parts[0], 8, 0, 2);
  expect_parts(parts[2], 0, 0, 1);
}

TEST(Parts, ALeafOfAGatherThatLeavesEarlyHasNotWaitedForThoseThatComeLater) {
  // Ranks 1 and 2 hand their blocks to the root, which is there, and leave; rank 3 comes at 8.
  const auto parts = parts_of(call_of(0, {{0, 10}, {1, 2}, {1.5, 4}, {8, 9}}));
  expect_parts(parts[1], 0, 0.5, 0.5);  // rank 2 came meanwhile
  expect_parts(parts[2], 0, 0, 2.5);
  expect_parts(parts[3], 0, 0, 1);
}

TEST(Parts, ALeafThatStandsBehindALateRankInTheAlgorithmIsHeld) {
  // The root is there at 0 and receives from rank 1 first, which comes at 8.
  const auto parts = parts_of(call_of(0, {{0, 10}, {8, 9}, {1, 10}}));
  expect_parts(parts[2], 0, 7, 2);
}

TEST(Parts, AllButTheRootWaitForALateRoot) {
  const auto parts = parts_of(call_of(1, {{0, 10}, {8, 12}, {2, 11}, {9, 12}}));
  expect_parts(parts[0], 8, 1, 1);
  expect_parts(parts[2], 6, 1, 2);
  expect_parts(parts[3], 0, 0, 3);
  expect_parts(parts[1], 1, 0, 3);  // the root itself waits for rank 3
}

TEST(Parts, WhoLeavesBeforeTheRootComesHasNotWaitedForIt) {
  // An MPI may buffer a small block: rank 1 is gone before the root arrives.
  const auto parts = parts_of(call_of(0, {{5, 6}, {0, 1}}));
  expect_parts(parts[1], 0, 0, 1);
}

TEST(Parts, AScattersRootThatLeavesEarlyHasNotWaitedEither) {
  const auto parts = parts_of(call_of(0, {{0, 1}, {0.25, 2}, {50, 51}}));
  expect_parts(parts[0], 0.25, 0, 0.75);
}

TEST(Parts, WithoutARootEveryRankNeedsEveryOther) {
  const auto parts = parts_of(call_of(no_rank, {{0, 10}, {3, 10}, {8, 11}}));
  expect_parts(parts[0], 8, 0, 2);
  expect_parts(parts[1], 5, 0, 2);
  expect_parts(parts[2], 0, 0, 3);
}

TEST(Parts, AddUpToTheTimeInTheCallWhateverTheTimes) {
  // Exits that clocks put before arrivals count as no time at all.
  const CallTimes call = call_of(1, {{0, 3}, {2, 1.5}, {2, 2}, {0.5, 7}});
  const auto parts = parts_of(call);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const Parts& one = parts[rank];
    EXPECT_GE(one.waiting, 0);
    EXPECT_GE(one.held, 0);
    EXPECT_GE(one.moving, 0);
    EXPECT_FLOAT_EQ(static_cast<float>(one.waiting + one.held + one.moving),
                    std::max(0.0F, call.elapsed[rank]));
  }
}

ArrivalPattern pattern_of(const std::vector<std::vector<float>>& delays) {
  ArrivalPattern pattern;
  for (std::size_t rank = 0; rank < delays.front().size(); ++rank)
    pattern.world.push_back(static_cast<Rank>(rank));
  for (const std::vector<float>& late : delays) {
    CallTimes call;
    call.root = 0;
    call.call = pattern.calls.size();
    call.delays = late;
    call.elapsed.assign(late.size(), 0.001F);
    call.ahead.assign(late.size(), 0);
    call.progress_hint.assign(late.size(), 0);
    pattern.calls.push_back(std::move(call));
  }
  return pattern;
}

TEST(Shares, AreMeansOverCalls) {
  const auto shares = shares_of(pattern_of({{0, 0.002F}, {0.001F, 0}, {0, 0.004F}}));
  EXPECT_EQ(shares[0].last, 1);
  EXPECT_EQ(shares[1].last, 2);
  EXPECT_NEAR(shares[1].delays, 0.002, 1e-9);
  EXPECT_NEAR(shares[1].delay_as_last, 0.003, 1e-9);
  EXPECT_NEAR(shares[0].delay_as_last, 0.001, 1e-9);
}

TEST(WhoIsLate, NamesTheRankThatIsLastInMostCalls) {
  std::vector<std::vector<float>> calls(25, {0, 0.001F, 0, 0.041F});
  calls[7] = {0, 0.5F, 0, 0};
  EXPECT_EQ(who_is_late(pattern_of(calls), 0),
            "rank 3 is last in 96 % of 25 calls, 41.0 ms behind the first");
  EXPECT_EQ(who_is_late(pattern_of({{0, 0.002F}}), 0),
            "rank 1 is last in the one call, 2.00 ms behind the first");
}

TEST(WhoIsLate, NamesThePlaceInTheWorldOfRanksOfOtherCommunicators) {
  ArrivalPattern pattern = pattern_of({{0, 0.002F}});
  pattern.world = {4, 6};
  EXPECT_EQ(who_is_late(pattern, 0),
            "rank 1 (6 of the world) is last in the one call, 2.00 ms behind the first");
}

TEST(WhoIsLate, NamesNobodyWhereRanksTakeTurns) {
  EXPECT_EQ(who_is_late(pattern_of({{0, 0.001F, 0}, {0.002F, 0, 0}, {0, 0, 0.003F}, {1, 0, 0}}), 0),
            "no rank is last in most of 4 calls; most often rank 0, in 50 %; the last rank is "
            "252 ms behind the first");
}

TEST(WhoIsLate, SaysNothingThatTheClocksCannotTell) {
  EXPECT_EQ(who_is_late(pattern_of({{0, 2e-6F}}), 3e-6),
            "ranks arrive together within the clocks' error");
  EXPECT_EQ(who_is_late(pattern_of({{0}}), 0), "");
}

}  // namespace
}  // namespace tutti
