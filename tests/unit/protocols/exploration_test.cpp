/// Explorations: rounds, comparisons of calls, and outcomes; and sampling windows.
#include "protocols/exploration.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// Runs an exploration in which `time(candidate, call)` gives the time and bytes of each call.
template <class Time>
ExplorationOutcome finish(Exploration& exploration, Time time) {
  int call = 0;
  while (!exploration.is_over()) {
    if (exploration.is_round_over()) {
      exploration.leave_out(outcome_of(exploration.calls(), exploration).is_slow);
      continue;
    }
    const int candidate = exploration.begin();
    exploration.end(time(candidate, call++));
  }
  return outcome_of(exploration.calls(), exploration);
}

template <class Time>
ExplorationOutcome tried(int candidates, Time time) {
  Exploration exploration(candidates);
  return finish(exploration, time);
}

std::vector<int> sequence(Exploration exploration, const std::vector<double>& seconds) {
  std::vector<int> candidates;
  finish(exploration, [&](int candidate, int) {
    candidates.push_back(candidate);
    return ExploredCall{seconds[static_cast<std::size_t>(candidate)], 0};
  });
  return candidates;
}

TEST(Exploration, RunsRoundsAfterOneUncountedCallOfEachFurtherCandidate) {
  EXPECT_EQ(sequence(Exploration(3), {1, 1, 1}),
            (std::vector{1, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(sequence(Exploration(2, false), {1, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
}

TEST(Exploration, LeavesOutCandidatesThatTakeMoreThanTwiceAsLong) {
  EXPECT_EQ(sequence(Exploration(3, false), {2, 5, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0, 2, 2, 2}));
  // Candidate 0 stays. It needs no second round if it alone remains.
  EXPECT_EQ(sequence(Exploration(2, false), {3, 1}),
            (std::vector{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(sequence(Exploration(2, false), {1, 3}), (std::vector{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(tried(2,
                  [](int candidate, int) {
                    return ExploredCall{candidate == 0 ? 1. : 3., 0};
                  })
                .candidate,
            0);
  EXPECT_EQ(tried(3,
                  [](int candidate, int) {
                    return ExploredCall{candidate == 1 ? 1. : 3., 0};
                  })
                .candidate,
            1);
}

TEST(Exploration, SelectsTheFastestCandidateThatGains10Percent) {
  const double seconds[] = {10, 8, 6};
  const auto by_candidate = [&](int candidate, int) { return ExploredCall{seconds[candidate], 0}; };
  EXPECT_EQ(tried(3, by_candidate).candidate, 2);
  EXPECT_EQ(tried(2, by_candidate).candidate, 1);
  EXPECT_EQ(tried(2,
                  [](int candidate, int) {
                    return ExploredCall{candidate == 0 ? 10. : 9.5, 0};
                  })
                .candidate,
            0);
  EXPECT_EQ(tried(2,
                  [](int candidate, int) {
                    return ExploredCall{candidate == 0 ? 10. : 19., 0};
                  })
                .candidate,
            0);
}

TEST(Exploration, SelectsNoCandidateThatIsFasterInOneRoundAlone) {
  Exploration slow(2, false);
  EXPECT_EQ(finish(slow,
                   [](int candidate, int call) {
                     return ExploredCall{candidate == 1 ? 12. : call < 3 ? 30. : 11., 0};
                   })
                .candidate,
            0);
  // Candidate 0 is disturbed in 4 of its 6 calls: all of one round, and one of the other.
  const auto disturbed = [](int first, int last) {
    return [=](int candidate, int call) {
      return ExploredCall{candidate == 1 ? 12. : first <= call && call <= last ? 18. : 11., 0};
    };
  };
  Exploration first(2, false);
  EXPECT_EQ(finish(first, disturbed(0, 6)).candidate, 0);
  Exploration last(2, false);
  EXPECT_EQ(finish(last, disturbed(2, 8)).candidate, 0);
  Exploration both(2, false);
  EXPECT_EQ(finish(both, disturbed(0, 8)).candidate, 1);
}

TEST(Exploration, IgnoresOutliersAndSetUp) {
  const auto outcome = tried(2, [](int candidate, int call) {
    if (call == 0) return ExploredCall{1000, 0};  // sets up
    if (call == 5) return ExploredCall{1000, 0};  // of candidate 1
    return ExploredCall{candidate == 0 ? 10. : 5., 0};
  });
  EXPECT_EQ(outcome.candidate, 1);
  EXPECT_EQ(outcome.seconds[0], 120);
  EXPECT_EQ(outcome.seconds[1], 60);
}

/// A program whose calls alternate gives one candidate 4 small and 2 large calls, the other one the
/// opposite: 2 s a byte flat, `node_seconds` a byte hierarchical.
TEST(Exploration, ComparesCallsOfSimilarSize) {
  const auto alternating = [](double node_seconds) {
    return tried(2, [=](int candidate, int call) {
      const Bytes bytes = call % 2 == 0 ? 10 : 1000;
      return ExploredCall{static_cast<double>(bytes) * (candidate == 0 ? 2 : node_seconds), bytes};
    });
  };
  EXPECT_EQ(alternating(1).candidate, 1);
  EXPECT_EQ(alternating(2.2).candidate, 0);
  // All calls of one candidate are large, all of the other small: none can be compared.
  EXPECT_EQ(tried(2,
                  [](int candidate, int) {
                    return ExploredCall{candidate == 0 ? 10. : 1., candidate == 0 ? 100 : 1};
                  })
                .candidate,
            0);
}

/// Small calls gain a high percentage, but the few large ones may lose more time.
TEST(Exploration, WeighsTheTimeOfAllCalls) {
  const auto mixed = [](double large_loss) {
    return tried(2, [=](int candidate, int call) {
      const bool large = call % 3 == 0;
      const double seconds =
          large ? 100 * (candidate == 0 ? 1 : large_loss) : (candidate == 0 ? 10 : 1);
      return ExploredCall{seconds, large ? 10000 : 1};
    });
  };
  EXPECT_EQ(mixed(0.9).candidate, 1);
  EXPECT_EQ(mixed(1.5).candidate, 0);
}

TEST(Exploration, UsesTheSlowestRankAndTheBytesOfAll) {
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

TEST(SamplingWindows, HaveOneCallIfEndedAtOnce) {
  SamplingWindows windows;
  EXPECT_TRUE(windows.begin_call());
  EXPECT_FALSE(windows.is_last());
  windows.end_window();
  EXPECT_TRUE(windows.is_last());
  EXPECT_EQ(calls_in_windows(windows, 130),
            (std::vector<std::uint64_t>{1 + SamplingWindows::calls_between, 130}));
}

TEST(SamplingWindows, EndByThemselves) {
  SamplingWindows windows;
  const auto calls = calls_in_windows(windows, 500);
  ASSERT_EQ(calls.front(), 1U);
  EXPECT_EQ(calls[SamplingWindows::max_calls - 1], std::uint64_t{SamplingWindows::max_calls});
  EXPECT_EQ(calls[SamplingWindows::max_calls],
            std::uint64_t{SamplingWindows::max_calls + SamplingWindows::calls_between});
}

TEST(SamplingWindows, AreTheSameWhetherCallsBeforeThemAreCountedOneByOneOrTogether) {
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

TEST(SamplingWindows, AreRarerTheMoreCallsThereWere) {
  SamplingWindows windows;
  EXPECT_EQ(windows.calls_to_next(), 0U);
  std::uint64_t before = 0;
  while (windows.calls() < 100000) {
    const bool expected = windows.calls_to_next() == 0;
    ASSERT_EQ(windows.begin_call(), expected);
    if (!expected) continue;
    const std::uint64_t share = before / SamplingWindows::calls_for_each_before;
    if (before > 0) {
      EXPECT_GE(windows.calls() - before, std::max<std::uint64_t>(128, share));
    }
    before = windows.calls();
    windows.end_window();
  }
}

}  // namespace
}  // namespace tutti
