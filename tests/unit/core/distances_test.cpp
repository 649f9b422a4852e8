/// Matrices of distances, the plan by which they are measured, and their file.
#include "core/distances.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "topology/distance_file.hpp"
#include "topology/distance_rows.hpp"
#include "topology/rank_orders.hpp"
#include "topology/shared_links.hpp"
#include "unit/json_reader.hpp"

namespace tutti {
namespace {

Distances random_distances(int p, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> microseconds(1, 100);
  Distances distances(p);
  for (Rank from = 0; from < p; ++from) {
    for (Rank to = 0; to < p; ++to) {
      if (from != to) distances.set(from, to, microseconds(random) * 1e-6);
    }
  }
  return distances;
}

TEST(Links, FromOneSizeScaleTheMachine) {
  // 10 + 2 * 5 = 20 on the machine, measured 30: one and a half times as slow.
  const Distances measured = Distances(2, {0, 30, 40, 0});
  const Links links({5, measured}, 10, 2);
  EXPECT_DOUBLE_EQ(links.latency(0, 1), 15);
  EXPECT_DOUBLE_EQ(links.per_byte(0, 1), 3);
  EXPECT_DOUBLE_EQ(links.seconds(1, 0, 5), 40);
  EXPECT_EQ(links.at(5)(0, 1), 30);
}

TEST(Links, FromTwoSizesAreTheLineThroughBoth) {
  const Links links({2, Distances(2, {0, 10, 7, 0})}, {6, Distances(2, {0, 18, 5, 0})});
  EXPECT_DOUBLE_EQ(links.latency(0, 1), 6);
  EXPECT_DOUBLE_EQ(links.per_byte(0, 1), 2);
  // The larger message was faster.
  EXPECT_DOUBLE_EQ(links.latency(1, 0), 7);
  EXPECT_DOUBLE_EQ(links.per_byte(1, 0), 0);
}

TEST(Plan, MeasuresEachPairOnce) {
  for (int p = 1; p <= 40; ++p) {
    std::set<RankPair> seen;
    const auto levels = chains_to_measure({p, {}});
    ASSERT_EQ(levels.size(), 1U);
    ASSERT_EQ(levels[0].size(), p == 1 ? 0U : 1U);
    for (const auto& chain : levels[0]) {
      for (const auto& [low, high] : chain) {
        EXPECT_LT(low, high);
        EXPECT_TRUE(seen.emplace(low, high).second);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(p * (p - 1) / 2));
  }
}

/// Ranks in nodes of `per_node`, dealt out round robin, and nodes in switches of `per_switch`.
Hierarchy dealt(int p, int per_node, int per_switch) {
  const int nodes = (p + per_node - 1) / per_node;
  Hierarchy hierarchy{p, {{}, {}}};
  for (Rank rank = 0; rank < p; ++rank) {
    hierarchy.levels[0].push_back(rank % nodes);
    hierarchy.levels[1].push_back(rank % nodes / per_switch);
  }
  return hierarchy;
}

TEST(Plan, OfLevelsMeasuresWhatEveryPairIsTakenFrom) {
  for (const int p : {1, 2, 7, 24, 61, 200}) {
    const Hierarchy hierarchy = dealt(p, 4, 3);
    EXPECT_EQ(flaw_of(hierarchy), "");
    std::set<RankPair> measured;
    std::map<Rank, int> pairs_of;
    for (const auto& level : chains_to_measure(hierarchy)) {
      std::set<Rank> in_level;
      for (const auto& chain : level) {
        std::set<Rank> ranks;
        for (const auto& [low, high] : chain) {
          EXPECT_TRUE(measured.emplace(low, high).second);
          ++pairs_of[low], ++pairs_of[high];
          ranks.insert({low, high});
        }
        // Chains that run at once share no rank.
        for (const Rank rank : ranks) EXPECT_TRUE(in_level.insert(rank).second);
      }
    }
    for (const auto& [rank, pairs] : pairs_of) EXPECT_LE(pairs, p - 1) << rank;
    std::vector<MeasuredPair> pairs;
    for (const auto& [low, high] : measured) pairs.push_back({low, high, 1});
    const Result<Distances> whole = expanded(hierarchy, pairs);
    EXPECT_TRUE(whole) << whole.error();
  }
}

/// The messages of each rank, with so many for each pair that it is in.
std::map<Rank, long> messages(const Hierarchy& hierarchy, int each) {
  std::map<Rank, long> count;
  for (const auto& level : chains_to_measure(hierarchy)) {
    for (const auto& chain : level) {
      for (const auto& [low, high] : chain) count[low] += each, count[high] += each;
    }
  }
  return count;
}

TEST(Plan, HasFewPairsForEachRankOfLevels) {
  // 32 nodes a switch of 8 ranks each: 7 in the node, 31 nodes, 3 switches at most.
  for (const auto& [rank, pairs] : messages(dealt(1000, 8, 32), 1)) EXPECT_LE(pairs, 7 + 31 + 3);
}

TEST(Plan, CostsARankOfAThousandOrderPMessages) {
  std::vector<std::string> nodes;
  for (Rank rank = 0; rank < 1000; ++rank) nodes.push_back("node" + std::to_string(rank / 8));
  // 20 and 4 exchanges and one more of each size, two messages each, and two turns.
  const int each = 2 * (20 + 4 + 2) + 2;
  const Hierarchy by_node = hierarchy_to_measure(nodes, 0);
  ASSERT_EQ(by_node.levels.size(), 1U);
  long most = 0;
  long all = 0;
  for (const auto& [rank, count] : messages(by_node, each)) {
    most = std::max(most, count);
    all += count;
  }
  EXPECT_EQ(most, (7 + 124) * each);  // of who stands for its node
  EXPECT_LE(most, 10L * 1000);
  EXPECT_EQ(all, 2L * each * (125 * 28 + 125 * 124 / 2));
  // With switches of 32 nodes who stands for them has 7 + 31 + 3 pairs.
  const Hierarchy by_switch = hierarchy_to_measure(nodes, 32);
  ASSERT_EQ(by_switch.levels.size(), 2U);
  for (const auto& [rank, count] : messages(by_switch, each)) EXPECT_LE(count, (7 + 31 + 3) * each);
  // One rank on each node: p - 1 pairs each.
  nodes.clear();
  for (Rank rank = 0; rank < 1000; ++rank) nodes.push_back("node" + std::to_string(rank));
  for (const auto& [rank, count] : messages(hierarchy_to_measure(nodes, 0), each)) {
    EXPECT_EQ(count, 999 * each);
  }
  // Few ranks: every pair, as in the paper.
  nodes.resize(64);
  EXPECT_TRUE(hierarchy_to_measure(nodes, 4).levels.empty());
}

// Ranks dealt out to nodes in turn, or by names that sort otherwise.
TEST(Measurements, CountTheNodesOfASwitchByTheirNames) {
  std::vector<std::string> nodes;
  for (Rank rank = 0; rank < 72; ++rank) {
    nodes.push_back("n" + std::to_string(12 - rank * 5 % 12) + "-a");
  }
  const Hierarchy hierarchy = hierarchy_to_measure(nodes, 3);
  ASSERT_EQ(hierarchy.levels.size(), 2U);
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const int number = 12 - static_cast<int>(rank) * 5 % 12;
    EXPECT_EQ(hierarchy.levels[0][rank], number - 1) << nodes[rank];
    EXPECT_EQ(hierarchy.levels[1][rank], (number - 1) / 3) << nodes[rank];
  }
}

TEST(Rows, AreTheWorldsRanksWhereTheNodesAreThoseOfTheFile) {
  const DistanceFile file{"", {"a", "a", "b", "b"}, {4, {}}, {}};
  EXPECT_EQ(*rows_for(file, {{"b", 3}, {"a", 0}}, 4), (std::vector<int>{3, 0}));
  // In a file without names too.
  EXPECT_EQ(*rows_for({"", {}, {4, {}}, {}}, {{"x", 2}, {"y", 1}}, 4), (std::vector<int>{2, 1}));
}

TEST(Rows, FollowTheNodesInOtherJobs) {
  const DistanceFile file{"", {"a", "a", "b", "b"}, {4, {}}, {}};
  // Ranks dealt to nodes in turn; the second one on a node has its second row.
  EXPECT_EQ(*rows_for(file, {{"a", 0}, {"b", 1}, {"a", 2}, {"b", 3}}, 4),
            (std::vector<int>{0, 2, 1, 3}));
  // A smaller job, numbered backwards in the communicator.
  EXPECT_EQ(*rows_for(file, {{"b", 2}, {"b", 1}, {"a", 0}}, 3), (std::vector<int>{3, 2, 0}));
  EXPECT_EQ(*rows_for(file, {{"b", no_rank}}, 0), (std::vector<int>{2}));
}

TEST(Rows, DoNotFollowRanksOfAnotherWorld) {
  const DistanceFile file{"", {"a", "a", "b", "b"}, {4, {}}, {}};
  // Ranks 7 and 1 of a world of spawned processes.
  EXPECT_EQ(*rows_for(file, {{"a", 0}, {"b", 7}}, 4), (std::vector<int>{0, 2}));
  EXPECT_EQ(*rows_for(file, {{"a", 1}, {"a", 1}}, 4), (std::vector<int>{0, 1}));
  const DistanceFile nameless{"", {}, {4, {}}, {}};
  for (const Rank other : {-2, 4, 1}) {
    EXPECT_FALSE(rows_for(nameless, {{"a", 1}, {"b", other}}, 4)) << other;
  }
}

TEST(Rows, SayWhoHasNone) {
  const DistanceFile file{"", {"a", "b"}, {2, {}}, {}};
  EXPECT_EQ(rows_for(file, {{"a", 0}, {"a", 1}}, 2).error(),
            "rank 1 is on node a, which has 1 ranks in the distances");
  EXPECT_EQ(rows_for(file, {{"c", 0}}, 1).error(),
            "rank 0 is on node c, which has 0 ranks in the distances");
  EXPECT_EQ(rows_for({"", {}, {4, {}}, {}}, {{"a", 0}}, 1).error(),
            "they are those of 4 ranks on nodes without names, the program has 1");
}

TEST(Rows, MakeTheDistancesOfTheirRanks) {
  const Distances distances = random_distances(4, 3);
  const DistanceFile file{"m", {"a", "b", "c", "d"}, {4, {{0, 1, 2, 2}}}, {{1, distances}}};
  const DistanceFile chosen = with_rows(file, {3, 1});
  EXPECT_EQ(chosen.names, (std::vector<std::string>{"d", "b"}));
  EXPECT_EQ(chosen.hierarchy, (Hierarchy{2, {{2, 1}}}));
  EXPECT_EQ(chosen.measured[0].distances(0, 1), distances(3, 1));
  EXPECT_EQ(chosen.measured[0].distances(1, 0), distances(1, 3));
}

TEST(RankOrders, TakeBlocksByClass) {
  const RankOrders placements{{std::vector<Rank>{0}, {1}, {2}, {3}}};
  const auto of = [&](Bytes block) { return placements.of(block).front(); };
  EXPECT_EQ(of(0), 0);
  EXPECT_EQ(of(256), 0);
  EXPECT_EQ(of(257), 1);
  EXPECT_EQ(of(4096), 1);
  EXPECT_EQ(of(65536), 2);
  EXPECT_EQ(of(65537), 3);
  EXPECT_EQ(of(Bytes{1} << 40), 3);
  EXPECT_EQ(placements.of_class[RankOrders::any_class].front(), 2);
  EXPECT_EQ(RankOrders::class_of(Collective::bcast, 257), 1);
  EXPECT_EQ(RankOrders::class_of(Collective::reduce_scatter, 257), RankOrders::any_class);
  EXPECT_EQ(RankOrders::class_of(Collective::barrier, 0), RankOrders::any_class);
}

TEST(Plan, RefusesGroupsThatLieInTwo) {
  EXPECT_EQ(flaw_of({4, {{0, 0, 1, 1}, {0, 1, 1, 1}}}),
            "group 0 of level 0 lies in two groups of level 1");
  EXPECT_EQ(flaw_of({3, {{0, 0}}}), "level 0 has groups for 2 ranks; expected 3");
}

TEST(Plan, ExpandsToTheWholeMatrix) {
  const Hierarchy nodes{4, {{0, 1, 0, 1}}};
  const Distances whole = *expanded(nodes, {{0, 2, 1}, {1, 3, 2}, {0, 1, 9}, {1, 0, 8}});
  EXPECT_EQ(whole, Distances(4, {0, 9, 1, 9, 8, 0, 8, 2, 1, 9, 0, 9, 8, 2, 8, 0}));
  EXPECT_EQ(expanded(nodes, {{0, 2, 1}, {1, 3, 2}}).error(),
            "the pair of ranks 0 and 1 is missing");
}

TEST(DistanceFile, ReadsBackWhatItWrites) {
  for (const int p : {1, 2, 5}) {
    DistanceFile file{"ping-pong \"x\"", {}, {p, {}}, {{1, random_distances(p, 1)}}};
    file.measured.push_back({65536, random_distances(p, 2)});
    for (int rank = 0; rank < p; ++rank) file.names.push_back("n\n" + std::to_string(rank));
    const std::string text = to_text(file);
    EXPECT_TRUE(test::JsonReader::accepts(text));
    const Result<DistanceFile> read = distances_from_text(text);
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->method, file.method);
    EXPECT_EQ(read->names, file.names);
    ASSERT_EQ(read->measured.size(), 2U);
    for (Rank a = 0; a < p; ++a) {
      for (Rank b = 0; b < p; ++b) {
        EXPECT_DOUBLE_EQ(read->measured[1].distances(a, b), file.measured[1].distances(a, b));
      }
    }
  }
}

TEST(DistanceFile, KeepsPairsWhereTheySayItAll) {
  const Hierarchy nodes = dealt(12, 3, 2);
  std::vector<MeasuredPair> pairs;
  for (const auto& level : chains_to_measure(nodes)) {
    for (const auto& chain : level) {
      for (const auto& [low, high] : chain)
        pairs.push_back({low, high, 1e-6 * (1 + low + 12 * high)});
    }
  }
  DistanceFile file{"", {}, nodes, {{1, *expanded(nodes, pairs)}}};
  EXPECT_NE(to_text(file).find("\"pairs\""), std::string::npos);
  const Result<DistanceFile> read = distances_from_text(to_text(file));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->hierarchy, nodes);
  EXPECT_DOUBLE_EQ(read->measured[0].distances(0, 11), file.measured[0].distances(0, 11));
  file.measured[0].distances.set(0, 11, 1);
  EXPECT_NE(to_text(file).find("\"matrix\""), std::string::npos);
}

/// Two switches of nodes of two ranks, dealt out; a fifth of noise.
TEST(Clusters, AreNodesAndSwitches) {
  const Hierarchy truth = dealt(24, 2, 6);
  Distances distances = random_distances(24, 3);
  for (Rank a = 0; a < 24; ++a) {
    for (Rank b = 0; b < 24; ++b) {
      if (a == b) continue;
      const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
      const double mean = truth.levels[0][at(a)] == truth.levels[0][at(b)]   ? 1e-6
                          : truth.levels[1][at(a)] == truth.levels[1][at(b)] ? 20e-6
                                                                             : 50e-6;
      distances.set(a, b, mean * (1 + distances(a, b) * 2e3));
    }
  }
  EXPECT_EQ(clusters_of(distances), truth);
  EXPECT_TRUE(clusters_of(random_distances(24, 4)).levels.empty());
  EXPECT_TRUE(clusters_of(Distances(1)).levels.empty());
}

}  // namespace
}  // namespace tutti
