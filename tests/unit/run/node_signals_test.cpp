/// Signals and waiting, between threads; under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "core/nodes.hpp"
#include "run/node/signals.hpp"

namespace tutti {
namespace {

int do_nothing() { return 0; }

constexpr Patience patiences[] = {patience_alone, patience_sharing, {0, 0}, {10, 0}, {0, 10}};

/// What each thread writes before it raises is plain memory: a missing release or acquire is a race
/// that ThreadSanitizer reports.
TEST(NodeSignals, BarriersOfThreadsSeeWhatWasWritten) {
  constexpr int threads = 5;
  constexpr int rounds = 200;
  for (const Patience& patience : patiences) {
    std::array<NodeSignal, threads> signals;
    std::array<int, threads> written{};
    std::atomic<int> wrong{0};
    const auto body = [&](std::size_t me) {
      for (int round = 1; round <= rounds; ++round) {
        written[me] = round;
        const auto first = static_cast<NodeSignal::Count>(2 * round - 1);
        signals[me].signal_to(first);
        for (NodeSignal& signal : signals) signal.wait(first, patience, do_nothing);
        for (const int other : written) wrong += other != round ? 1 : 0;
        signals[me].signal_to(first + 1);
        for (NodeSignal& signal : signals) signal.wait(first + 1, patience, do_nothing);
      }
    };
    {
      std::vector<std::jthread> all;
      for (std::size_t me = 0; me < threads; ++me) all.emplace_back(body, me);
    }
    EXPECT_EQ(wrong, 0);
  }
}

// Calls that nobody waits in may bring a rank any number of calls ahead of another.
TEST(NodeSignals, AreNotReachedHoweverFarAhead) {
  NodeSignal signal;
  signal.signal_to(5);
  for (int bit = 3; bit < 64; ++bit) {
    EXPECT_FALSE(signal.has_reached(NodeSignal::Count{1} << bit)) << bit;
  }
  signal.signal_to(NodeSignal::Count{1} << 40);
  EXPECT_TRUE(signal.has_reached(NodeSignal::Count{1} << 40));
  EXPECT_TRUE(signal.has_reached(5));
  EXPECT_FALSE(signal.has_reached((NodeSignal::Count{1} << 40) + 1));
}

// The kernel is asked about the low half alone, which does not change here.
TEST(NodeSignals, SleepersSeeRaisesOfTheirHighHalf) {
  NodeSignal signal;
  std::jthread other([&] { signal.signal_to(NodeSignal::Count{1} << 32); });
  EXPECT_EQ(signal.wait(NodeSignal::Count{1} << 32, Patience{0, 0}, do_nothing), 0);
}

/// Nobody raises the signal: only what is done meanwhile ends the wait, in each way of waiting.
TEST(NodeSignals, ErrorsMeanwhileEndTheWait) {
  for (const Patience& patience : patiences) {
    NodeSignal signal;
    int calls = 0;
    EXPECT_EQ(signal.wait(1, patience, [&] { return ++calls == 3 ? 7 : 0; }), 7);
    EXPECT_EQ(calls, 3);
  }
}

/// The one who waits sleeps long before the signal is signalled, and goes on making progress.
TEST(NodeSignals, ProgressIsMadeWhileOneSleeps) {
  NodeSignal signal;
  std::atomic<int> calls{0};
  const auto count = [&] {
    ++calls;
    return 0;
  };
  const std::jthread sleeper([&] { signal.wait(1, {0, 0}, count); });
  while (calls < 5) std::this_thread::yield();
  signal.signal_to(1);
}

/// A sleep of 10 s ends as soon as the signal is signalled.
TEST(NodeSignals, SleepersAreWoken) {
  using namespace std::chrono_literals;
  NodeSignal signal;
  std::atomic<bool> sleeps_next = false;
  const auto note = [&] {
    sleeps_next = true;
    return 0;
  };
  std::jthread other([&] {
    while (!sleeps_next) std::this_thread::yield();
    std::this_thread::sleep_for(50ms);
    signal.signal_to(1);
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(signal.wait(1, Patience{0, 64, 10'000'000'000}, note), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

std::vector<int> first_nodes(const char* text, Rank ranks) {
  const Result<EmulatedNodes> nodes = emulated_nodes(text);
  std::vector<int> all;
  for (Rank rank = 0; nodes && rank < ranks; ++rank) all.push_back(nodes->node_of(rank));
  return all;
}

TEST(EmulatedNodes, TakeConsecutiveRanksListsAndRoundRobin) {
  EXPECT_EQ(first_nodes("3", 7), (std::vector{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(first_nodes("1,4,2", 9), (std::vector{0, 1, 1, 1, 1, 2, 2, 3, 4}));
  EXPECT_EQ(first_nodes("round_robin:3", 5), (std::vector{0, 1, 2, 0, 1}));
}

TEST(EmulatedNodes, TakeWhatExplainTakes) {
  for (const char* text : {"1,4,2,3,1:round_robin", "2x4,3:shuffled", "3x2:block", "4,1"}) {
    const Nodes explained = *nodes_from(text);
    const int p = explained.p();
    const std::vector<int> nodes = first_nodes(text, 2 * p);
    for (Rank rank = 0; rank < p; ++rank) {
      EXPECT_EQ(nodes[index(rank)], explained.node_of(rank)) << text;
      EXPECT_EQ(nodes[index(rank + p)], explained.node_of(rank) + explained.count()) << text;
    }
  }
}

TEST(EmulatedNodes, TakeGroups) {
  const auto groups = [](const char* text, Rank ranks) {
    const EmulatedNodes nodes = *emulated_nodes(text);
    std::vector<int> all;
    for (Rank rank = 0; rank < ranks; ++rank) all.push_back(nodes.group_of(rank));
    return all;
  };
  EXPECT_EQ(groups("5/2", 7), (std::vector{0, 0, 1, 1, 2, 0, 0}));
  EXPECT_EQ(groups("1,4/round_robin:2", 7), (std::vector{0, 0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(groups("round_robin:2/2", 6), (std::vector{0, 0, 0, 0, 1, 1}));
  // Rank 5 is the third one of the second node; rank 6 starts the list over.
  EXPECT_EQ(groups("1,4,1:round_robin/2", 7), (std::vector{0, 0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(groups("3", 3), (std::vector{-1, -1, -1}));
  EXPECT_EQ(first_nodes("3/2", 4), (std::vector{0, 0, 0, 1}));
  for (const char* text : {"4/", "4/0", "4/x", "4/round_robin:", "4/2/2"}) {
    const Result<EmulatedNodes> nodes = emulated_nodes(text);
    ASSERT_FALSE(nodes) << text;
    EXPECT_NE(nodes.error().find("ranks of each group, as /2"), std::string::npos);
  }
}

TEST(EmulatedNodes, RefuseWhatNamesNone) {
  for (const char* text : {"", "0", "-1", "x", "3,", ",3", "3,0", "3 ", "round_robin:",
                           "round_robin:0", "round_robin", "99999999999", "1;2", "3:dealt"}) {
    const Result<EmulatedNodes> nodes = emulated_nodes(text);
    ASSERT_FALSE(nodes) << text;
    EXPECT_NE(nodes.error().find("expected ranks of each node (3)"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
