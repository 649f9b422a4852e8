/// Trials: turns, calls that are compared, and what they show.
#include "protocols/exploration.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// Runs a exploration in which `time(way, call)` says what each call takes and moves.
template <class Time>
ExplorationOutcome finish(Exploration& exploration, Time time) {
  int call = 0;
  while (!exploration.is_over()) {
    if (exploration.is_round_over()) {
      exploration.leave_out(outcome_of(exploration.calls(), exploration).is_slow);
      continue;
    }
    const int way = exploration.begin();
    exploration.end(time(way, call++));
  }
  return outcome_of(exploration.calls(), exploration);
}

template <class Time>
ExplorationOutcome tried(int ways, Time time) {
  Exploration exploration(ways);
  return finish(exploration, time);
}

std::vector<int> sequence(Exploration exploration, const std::vector<double>& seconds) {
  std::vector<int> ways;
  finish(exploration, [&](int way, int) {
    ways.push_back(way);
    return ExploredCall{seconds[static_cast<std::size_t>(way)], 0};
  });
  return ways;
}

TEST(Trials, TakeTurnsAfterOneUncountedCallOfEachFurtherWay) {
  EXPECT_EQ(sequence(Exploration(3), {1, 1, 1}),
            (std::vector{1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(sequence(Exploration(2, false), {1, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
}

TEST(Trials, LeaveOutWhatTakesMoreThanTwiceAsLong) {
  EXPECT_EQ(sequence(Exploration(3, false), {2, 5, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 2, 2, 2}));
  // The usual one stays, and where it alone is left it needs no second turn.
  EXPECT_EQ(sequence(Exploration(2, false), {3, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(sequence(Exploration(2, false), {1, 3}), (std::vector{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(tried(2,
                  [](int way, int) {
                    return ExploredCall{way == 0 ? 1. : 3., 0};
                  })
                .candidate,
            0);
  EXPECT_EQ(tried(3,
                  [](int way, int) {
                    return ExploredCall{way == 1 ? 1. : 3., 0};
                  })
                .candidate,
            1);
}

TEST(Trials, TakeTheFastestWayThatGainsATenth) {
  const double seconds[] = {10, 8, 6};
  const auto by_way = [&](int way, int) { return ExploredCall{seconds[way], 0}; };
  EXPECT_EQ(tried(3, by_way).candidate, 2);
  EXPECT_EQ(tried(2, by_way).candidate, 1);
  EXPECT_EQ(tried(2,
                  [](int way, int) {
                    return ExploredCall{way == 0 ? 10. : 9.5, 0};
                  })
                .candidate,
            0);
  EXPECT_EQ(tried(2,
                  [](int way, int) {
                    return ExploredCall{way == 0 ? 10. : 19., 0};
                  })
                .candidate,
            0);
}

TEST(Trials, TakeNoWayThatIsFasterInOneTurnAlone) {
  Exploration slow(2, false);
  EXPECT_EQ(finish(slow,
                   [](int way, int call) {
                     return ExploredCall{way == 1 ? 12. : call < 3 ? 30. : 11., 0};
                   })
                .candidate,
            0);
  // The usual way is disturbed in four of its six calls: all of one turn, and one of the other.
  const auto disturbed = [](int first, int last) {
    return [=](int way, int call) {
      return ExploredCall{way == 1 ? 12. : first <= call && call <= last ? 18. : 11., 0};
    };
  };
  Exploration first(2, false);
  EXPECT_EQ(finish(first, disturbed(0, 6)).candidate, 0);
  Exploration last(2, false);
  EXPECT_EQ(finish(last, disturbed(2, 8)).candidate, 0);
  Exploration both(2, false);
  EXPECT_EQ(finish(both, disturbed(0, 8)).candidate, 1);
}

TEST(Trials, LeaveOutliersAndWhatIsSetUpAlone) {
  const auto outcome = tried(2, [](int way, int call) {
    if (call == 0) return ExploredCall{1000, 0};  // sets up
    if (call == 5) return ExploredCall{1000, 0};  // of way 1
    return ExploredCall{way == 0 ? 10. : 5., 0};
  });
  EXPECT_EQ(outcome.candidate, 1);
  EXPECT_EQ(outcome.seconds[0], 120);
  EXPECT_EQ(outcome.seconds[1], 60);
}

/// A program with two calls in turn gives one way four small ones and two large ones, the other the
/// opposite: 2 ms a unit flat, 1 ms through nodes.
TEST(Trials, CompareCallsWithTheirLike) {
  const auto in_turn = [](double node_seconds) {
    return tried(2, [=](int way, int call) {
      const Bytes bytes = call % 2 == 0 ? 10 : 1000;
      return ExploredCall{static_cast<double>(bytes) * (way == 0 ? 2 : node_seconds), bytes};
    });
  };
  EXPECT_EQ(in_turn(1).candidate, 1);
  EXPECT_EQ(in_turn(2.2).candidate, 0);
  // All calls of one way are large, all of the other small: there is nothing to compare.
  EXPECT_EQ(tried(2,
                  [](int way, int) {
                    return ExploredCall{way == 0 ? 10. : 1., way == 0 ? 100 : 1};
                  })
                .candidate,
            0);
}

/// Small calls gain much, but the few large ones lose more time than that.
TEST(Trials, WeighTheTimeOfAllCalls) {
  const auto mixed = [](double large_loss) {
    return tried(2, [=](int way, int call) {
      const bool large = call % 3 == 0;
      const double seconds = large ? 100 * (way == 0 ? 1 : large_loss) : (way == 0 ? 10 : 1);
      return ExploredCall{seconds, large ? 10000 : 1};
    });
  };
  EXPECT_EQ(mixed(0.9).candidate, 1);
  EXPECT_EQ(mixed(1.5).candidate, 0);
}

TEST(Trials, GoByTheSlowestRankAndTheBytesOfAll) {
  const ExploredCall by_rank[] = {{1, 10}, {5, 20}, {2, 30}, {3, 40}};  // two ranks, two calls
  const std::vector<ExploredCall> all = calls_of_all(by_rank, 2);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].seconds, 2);
  EXPECT_EQ(all[0].bytes, 40);
  EXPECT_EQ(all[1].seconds, 5);
  EXPECT_EQ(all[1].bytes, 60);
}

std::vector<std::uint64_t> calls_in_windows(SamplingWindows& windows, std::uint64_t last) {
  std::vector<std::uint64_t> calls;
  while (windows.calls() < last) {
    if (windows.begin_call()) calls.push_back(windows.calls());
  }
  return calls;
}

TEST(Windows, AreOneCallUnlessTheyAreKeptOpen) {
  SamplingWindows windows;
  EXPECT_TRUE(windows.begin_call());
  EXPECT_FALSE(windows.is_last());
  windows.end_window();
  EXPECT_TRUE(windows.is_last());
  EXPECT_EQ(calls_in_windows(windows, 130),
            (std::vector<std::uint64_t>{1 + SamplingWindows::calls_between, 130}));
}

TEST(Windows, EndByThemselves) {
  SamplingWindows windows;
  const auto calls = calls_in_windows(windows, 500);
  ASSERT_EQ(calls.front(), 1U);
  EXPECT_EQ(calls[SamplingWindows::max_calls - 1], std::uint64_t{SamplingWindows::max_calls});
  EXPECT_EQ(calls[SamplingWindows::max_calls],
            std::uint64_t{SamplingWindows::max_calls + SamplingWindows::calls_between});
}

TEST(Windows, AreTheSameWhetherCallsBeforeThemAreCountedOneByOneOrTogether) {
  SamplingWindows one_by_one;
  SamplingWindows together;
  while (one_by_one.calls() < 5000) {
    if (together.calls_to_next() > 0) together.pass(together.calls_to_next());
    while (!one_by_one.begin_call()) {
    }
    ASSERT_TRUE(together.begin_call());
    ASSERT_EQ(one_by_one.calls(), together.calls());
    one_by_one.end_window();
    together.end_window();
  }
}

TEST(Windows, AreRarerTheMoreCallsThereWere) {
  SamplingWindows windows;
  EXPECT_EQ(windows.calls_to_next(), 0U);
  std::uint64_t before = 0;
  while (windows.calls() < 100000) {
    const bool expected = windows.calls_to_next() == 0;
    ASSERT_EQ(windows.begin_call(), expected);
    if (!expected) continue;
    const std::uint64_t least = before / SamplingWindows::calls_for_each_before;
    if (before > 0) {
      EXPECT_GE(windows.calls() - before, std::max<std::uint64_t>(128, least));
    }
    before = windows.calls();
    windows.end_window();
  }
}

}  // namespace
}  // namespace tutti
