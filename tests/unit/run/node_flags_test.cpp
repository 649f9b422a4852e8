/// Flags and waiting, between threads; under ThreadSanitizer too.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/index.hpp"
#include "run/node/map.hpp"
#include "run/node/signals.hpp"

namespace tutti {
namespace {

struct CountProgress final : WhileWaiting {
  int progress() override { return ++calls == fails_at ? 7 : 0; }
  int calls = 0;
  int fails_at = -1;
};

constexpr Patience patiences[] = {patience_alone, patience_sharing, {0, 0}, {10, 0}, {0, 10}};

/// What each thread writes before it raises is plain memory: a missing release or acquire is a race
/// that ThreadSanitizer reports.
TEST(NodeFlags, BarriersOfThreadsSeeWhatWasWritten) {
  constexpr int threads = 5;
  constexpr int rounds = 200;
  for (const Patience& patience : patiences) {
    std::array<NodeFlag, threads> flags;
    std::array<int, threads> written{};
    std::atomic<int> wrong{0};
    const auto body = [&](std::size_t me) {
      CountProgress meanwhile;
      for (int round = 1; round <= rounds; ++round) {
        written[me] = round;
        flags[me].raise();
        for (NodeFlag& flag : flags) {
          flag.wait(static_cast<NodeFlag::Count>(2 * round - 1), patience, meanwhile);
        }
        for (const int other : written) wrong += other != round ? 1 : 0;
        flags[me].raise();
        for (NodeFlag& flag : flags) {
          flag.wait(static_cast<NodeFlag::Count>(2 * round), patience, meanwhile);
        }
      }
    };
    {
      std::vector<std::jthread> all;
      for (std::size_t me = 0; me < threads; ++me) all.emplace_back(body, me);
    }
    EXPECT_EQ(wrong, 0);
  }
}

TEST(NodeFlags, CountRaisesOfMany) {
  NodeFlag flag;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 8; ++i) all.emplace_back([&] { flag.raise(3); });
  }
  EXPECT_TRUE(flag.has_reached(24));
  EXPECT_FALSE(flag.has_reached(25));
}

// Calls that nobody waits in may bring a rank any number of calls ahead of another.
TEST(NodeFlags, AreNotReachedHoweverFarAhead) {
  NodeFlag flag;
  flag.raise(5);
  for (int bit = 3; bit < 64; ++bit) {
    EXPECT_FALSE(flag.has_reached(NodeFlag::Count{1} << bit)) << bit;
  }
  flag.raise_to(NodeFlag::Count{1} << 40);
  EXPECT_TRUE(flag.has_reached(NodeFlag::Count{1} << 40));
  EXPECT_TRUE(flag.has_reached(5));
  EXPECT_FALSE(flag.has_reached((NodeFlag::Count{1} << 40) + 1));
}

// The kernel is asked about the low half alone, which does not change here.
TEST(NodeFlags, SleepersSeeRaisesOfTheirHighHalf) {
  NodeFlag flag;
  CountProgress meanwhile;
  std::jthread other([&] { flag.raise_to(NodeFlag::Count{1} << 32); });
  EXPECT_EQ(flag.wait(NodeFlag::Count{1} << 32, Patience{0, 0}, meanwhile), 0);
}

/// Nobody raises the flag: only what is done meanwhile ends the wait, in each way of waiting.
TEST(NodeFlags, ErrorsMeanwhileEndTheWait) {
  for (const Patience& patience : patiences) {
    NodeFlag flag;
    CountProgress meanwhile;
    meanwhile.fails_at = 3;
    EXPECT_EQ(flag.wait(1, patience, meanwhile), 7);
    EXPECT_EQ(meanwhile.calls, 3);
  }
}

/// The one who waits sleeps long before the flag is raised, and goes on making progress.
TEST(NodeFlags, ProgressIsMadeWhileOneSleeps) {
  NodeFlag flag;
  std::atomic<int> calls{0};
  struct Counting final : WhileWaiting {
    explicit Counting(std::atomic<int>& c) : calls(c) {}
    int progress() override {
      ++calls;
      return 0;
    }
    std::atomic<int>& calls;
  } meanwhile(calls);
  const std::jthread sleeper([&] { flag.wait(1, {0, 0}, meanwhile); });
  while (calls < 5) std::this_thread::yield();
  flag.raise();
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
    EXPECT_NE(nodes.error().find("names no groups; accepted"), std::string::npos);
  }
}

TEST(EmulatedNodes, RefuseWhatNamesNone) {
  for (const char* text : {"", "0", "-1", "x", "3,", ",3", "3,0", "3 ", "round_robin:",
                           "round_robin:0", "round_robin", "99999999999", "1;2", "3:dealt"}) {
    const Result<EmulatedNodes> nodes = emulated_nodes(text);
    ASSERT_FALSE(nodes) << text;
    EXPECT_NE(nodes.error().find(std::string("'") + text + "' names no nodes; accepted"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
