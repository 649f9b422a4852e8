/// The numbers by which a tuning case drops, selects, settles and begins anew.
#include "select/tuning_case.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {
namespace {

/// A race in which a candidate takes the same time in each call. What is slower than the MPI's own
/// explores one call at a time.
struct Race {
  TuningCase known;
  std::vector<Nanoseconds> times;
  std::uint64_t calls = 0;

  explicit Race(std::vector<Nanoseconds> of_candidates) : times(std::move(of_candidates)) {
    known.set_candidates(static_cast<int>(times.size()));
  }
  void run_window() {
    const Exploration planned = known.exploration();
    EXPECT_LE(planned.calls, planned.is_new ? 1 : 4);
    for (int i = 0; i < 8; ++i) {
      const int candidate = i < planned.calls ? planned.candidate : known.selected();
      const Nanoseconds time = times[static_cast<std::size_t>(candidate)];
      known.add(candidate, {time, time, time});
    }
    calls += 8;
    known.conclude(calls);
    known.plan({1'000'000, 0}, calls);
  }
  void settle() {
    for (int window = 0; window < 100 && !known.is_settled(); ++window) run_window();
    ASSERT_TRUE(known.is_settled());
  }
};

TEST(TuningCase, DropsACandidateAfterAsManyCallsAsItsTimeNeeds) {
  struct Row {
    Nanoseconds native;
    Nanoseconds candidate;
    int explored;
  };
  const std::vector<Row> rows = {
      {10'000, 16'000, 2},          // by 50 % in 1 call, beside a first one that may set up
      {10'000, 14'000, 3},          // by 20 % in 2
      {10'000, 11'500, 10},         // by less
      {10'000, 9'800, 1 + 8 * 4},   // a gain of 2 %: at least 32 calls
      {10'000'000, 29'000'000, 2},  // no 20 ms more
      {10'000'000, 35'000'000, 1},  // 25 ms more and 3.5 times as long: not what sets up
      {20'000'000, 45'000'000, 2},  // 25 ms more, but not 3 times as long
  };
  for (const Row& row : rows) {
    Race race({row.native, row.candidate});
    race.settle();
    EXPECT_EQ(race.known.explored(), row.explored) << row.candidate;
    EXPECT_EQ(race.known.selected(), 0) << row.candidate;
  }
}

TEST(TuningCase, SelectsACandidateThatFurtherCallsConfirm) {
  const auto explored_until_selected = [](Nanoseconds candidate) {
    Race race({10'000, candidate});
    for (int window = 0; window < 100 && race.known.selected() == 0; ++window) race.run_window();
    return race.known.selected() == 1 ? race.known.explored() : 0;
  };
  // 1 call and 4 find it.
  EXPECT_EQ(explored_until_selected(9'000), 5 + 12);
  EXPECT_EQ(explored_until_selected(6'667), 5 + 12);
  EXPECT_EQ(explored_until_selected(6'666), 5 + 4) << "less than 2/3 of the time";
  EXPECT_EQ(explored_until_selected(9'708), 5 + 12);
  EXPECT_EQ(explored_until_selected(9'709), 0) << "a gain of less than 3 %";
}

TEST(TuningCase, ExploresWhatIsFasterThenWhatIsNewThenTheFastestOfTheOthers) {
  const auto planned = [](std::vector<Nanoseconds> times) {
    Race race(std::move(times));
    std::vector<int> all;
    for (int window = 0; window < 3; ++window) {
      race.run_window();
      all.push_back(race.known.exploration().candidate);
    }
    return all;
  };
  EXPECT_EQ(planned({10'000, 11'000, 9'000, 9'000}), (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(planned({10'000, 11'000, 11'000, 9'000}), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(planned({10'000, 11'000, 10'500}), (std::vector<int>{1, 2, 2}));
  EXPECT_EQ(planned({10'000, 10'500, 11'000}), (std::vector<int>{1, 2, 1}));
}

TEST(TuningCase, ComparesASelectionInEveryFourthWindowAndAtTheEnd) {
  std::vector<Nanoseconds> times(10, 7'000);
  times[0] = 10'000;
  times[1] = 5'000;
  Race race(times);
  for (int window = 0; window < 10 && race.known.selected() == 0; ++window) race.run_window();
  ASSERT_EQ(race.known.selected(), 1);
  std::vector<int> planned;
  for (int window = 0; window < 8; ++window) {
    planned.push_back(race.known.exploration().candidate);
    race.run_window();
  }
  EXPECT_EQ(planned, (std::vector<int>{2, 3, 4, 0, 5, 6, 7, 0}));
  race.settle();
  EXPECT_GE(race.known.measurements()[1].calls, 16);
  EXPECT_EQ(race.known.exploration().candidate, -1);
  race.run_window();
  EXPECT_EQ(race.known.exploration().candidate, 0) << "afterwards every window compares";
}

TEST(TuningCase, AwaitsTheBudgetWhereNothingElseIsLeftToExplore) {
  Race race({10'000, 12'000});
  race.run_window();
  const Allowance enough = {1'000'000, 1'000'000};
  EXPECT_TRUE(race.known.plan(enough, race.calls));
  EXPECT_FALSE(race.known.awaits_budget());
  race.known.defer(1);
  EXPECT_TRUE(race.known.plan(enough, race.calls));
  EXPECT_TRUE(race.known.awaits_budget());
  race.known.resume();
  EXPECT_FALSE(race.known.plan({.is_used_up = true}, race.calls));
  EXPECT_TRUE(race.known.awaits_budget());
  EXPECT_TRUE(race.known.plan(enough, race.calls));
  EXPECT_FALSE(race.known.awaits_budget());
  race.known.exclude(1);
  EXPECT_FALSE(race.known.plan(enough, race.calls));
  EXPECT_FALSE(race.known.awaits_budget());
  EXPECT_TRUE(race.known.is_settled());
}

TEST(TuningCase, BeginsAnewAfterEightTimesAsManyCallsAndAtLeast4096) {
  Race early({10'000, 20'000});
  early.settle();
  early.known.conclude(4095);
  EXPECT_TRUE(early.known.is_settled());
  early.known.conclude(4096);
  EXPECT_FALSE(early.known.is_settled());
  Race late({10'000, 20'000});
  late.calls = 1000;
  late.settle();
  late.known.conclude(8 * late.calls - 1);
  EXPECT_TRUE(late.known.is_settled());
  late.known.conclude(8 * late.calls);
  EXPECT_FALSE(late.known.is_settled());
}

TEST(TuningCase, BeginsAnewIfFourCallsInTurnTakeAnotherTime) {
  const auto begins_anew = [](const std::vector<Nanoseconds>& later) {
    Race race({10'000, 20'000});
    race.settle();
    for (const Nanoseconds time : later) race.known.add(0, {time, time, time});
    race.known.conclude(race.calls);
    return !race.known.is_settled();
  };
  EXPECT_TRUE(begins_anew({15'001, 15'001, 15'001, 15'001}));
  EXPECT_FALSE(begins_anew({15'000, 15'000, 15'000, 15'000}));
  EXPECT_FALSE(begins_anew({15'001, 15'001, 15'001}));
  EXPECT_FALSE(begins_anew({15'001, 15'001, 10'000, 15'001}));
  EXPECT_TRUE(begins_anew({6'666, 6'666, 6'666, 6'666}));
  EXPECT_FALSE(begins_anew({6'667, 6'667, 6'667, 6'667}));
}

}  // namespace
}  // namespace tutti
