/// The central ordered tree: the paper's figures, and extensions beyond the paper.
#include "protocols/ordered_tree.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/distributions.hpp"
#include "shapes/knomial.hpp"

namespace tutti {
namespace {

/// Träff 2017, Figure 2.
const std::vector<Bytes> example = {1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5};

Growth plain(int p, Rank root, JoinRule rule) {
  Growth growth;
  growth.p = p;
  growth.root = root;
  growth.parameters.rule = rule;
  growth.parameters.promote = false;
  return growth;
}

TEST(OrderedTree, HasThePapersTimesForEachRoot) {
  const std::vector<Bytes> times = {26, 26, 23, 22, 22, 23, 27, 27, 24, 21, 21};
  for (Rank root = 0; root < 11; ++root) {
    const OrderedTree tree(plain(11, root, JoinRule::gather_time), example);
    EXPECT_EQ(tree.lemma_time(), times[static_cast<std::size_t>(root)]) << "root " << root;
    EXPECT_EQ(tree.root(), root);
  }
}

TEST(OrderedTree, ChoosesRoot3ByTheGatherTimeRule) {
  // The caption of Figure 2 names 9, which the rule of Lemma 1 never reaches. 22 = 25 - 3.
  const OrderedTree tree(plain(11, no_rank, JoinRule::gather_time), example);
  EXPECT_EQ(tree.root(), 3);
  EXPECT_EQ(tree.lemma_time(), 22);
}

TEST(OrderedTree, ChoosesABetterRootByTheVolumeRule) {
  const OrderedTree tree(plain(11, no_rank, JoinRule::volume), example);
  EXPECT_EQ(tree.root(), 9);
  EXPECT_EQ(tree.lemma_time(), 21);
}

/// Time without start-ups of a binomial gather whose ranks receive round by round: the recurrence
/// T = max(T', T'') + M'' of two halves, for a tree that ignores the sizes.
std::pair<Bytes, Bytes> round_by_round(const Knomial& tree, const std::vector<Bytes>& sizes,
                                       const Order& order, Position position) {
  Bytes time = 0;
  Bytes total = sizes[static_cast<std::size_t>(order.rank_at(position))];
  for (const Position child : tree.children(position)) {
    const auto [ready, bytes] = round_by_round(tree, sizes, order, child);
    time = std::max(time, ready) + bytes;
    total += bytes;
  }
  return {time, total};
}

TEST(OrderedTree, MeetsTheBoundOfTheDecreasingDistributionByPromotion) {
  // p = 560, b = 100, root 280, alpha = 0. The root must receive 56299. Lemma 2 first waits until
  // the side without the root is gathered; a binomial tree on rotated ranks ignores the sizes.
  const auto sizes = distribute(Distribution::decreasing, 560, 100);
  Growth growth = plain(560, 280, JoinRule::gather_time);
  EXPECT_EQ(OrderedTree(growth, sizes).lemma_time(), 79605);
  growth.parameters.promote = true;
  const OrderedTree promoted(growth, sizes);
  EXPECT_EQ(promoted.time(), 56299);
  EXPECT_LE(promoted.promoted().size(), 3U);
  const Order rotated = Order::rotated(560, 280);
  EXPECT_EQ(round_by_round(Knomial(560, 2), sizes, rotated, 0).first, 83631);
}

TEST(OrderedTree, IsNeverWorseByVolumeThanByGatherTime) {
  std::mt19937_64 random(3);
  int better = 0;
  for (int i = 0; i < 4000; ++i) {
    const int p = 1 + static_cast<int>(random() % 70);
    std::vector<Bytes> sizes;
    for (int rank = 0; rank < p; ++rank) sizes.push_back(static_cast<Bytes>(random() % 30));
    Growth growth = plain(p, no_rank, JoinRule::volume);
    growth.half_performance_length = static_cast<Bytes>(random() % 4);
    const Bytes by_volume = OrderedTree(growth, sizes).lemma_time();
    growth.parameters.rule = JoinRule::gather_time;
    const Bytes by_gather_time = OrderedTree(growth, sizes).lemma_time();
    ASSERT_LE(by_volume, by_gather_time) << "case " << i;
    better += by_volume < by_gather_time ? 1 : 0;
  }
  EXPECT_GT(better, 100);
}

TEST(OrderedTree, IsNeverWorseByPromotion) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 2000; ++i) {
    const int p = 1 + static_cast<int>(random() % 70);
    std::vector<Bytes> sizes;
    for (int rank = 0; rank < p; ++rank) sizes.push_back(static_cast<Bytes>(random() % 300));
    Growth growth =
        plain(p, static_cast<Rank>(random() % static_cast<unsigned>(p)), JoinRule::volume);
    growth.half_performance_length = static_cast<Bytes>(random() % 10);
    const OrderedTree without(growth, sizes);
    growth.parameters.promote = true;
    const OrderedTree with(growth, sizes);
    EXPECT_LE(with.time(), without.lemma_time());
    EXPECT_LE(with.promoted().size(), max_promotions);
  }
}

TEST(OrderedTree, NeedsNoSizesOfOthersIfAllAreEqual) {
  for (int p = 1; p <= 40; ++p) {
    for (Rank root = 0; root < p; root += 3) {
      for (const int ports : {1, 2, 3}) {
        Growth growth = plain(p, root, JoinRule::volume);
        growth.parameters.ports = ports;
        const OrderedTree regular(growth, 5);
        const OrderedTree irregular(growth, std::vector<Bytes>(static_cast<std::size_t>(p), 5));
        EXPECT_EQ(regular.lemma_time(), irregular.lemma_time());
        for (Rank rank = 0; rank < p; ++rank) {
          ASSERT_EQ(regular.neighbours(rank), irregular.neighbours(rank));
        }
      }
    }
  }
}

TEST(OrderedTree, SendsHeavySubtreesToTheRootAboveAThreshold) {
  Growth growth = plain(8, 0, JoinRule::volume);
  growth.parameters.threshold = 10;
  // Ranks 5 and 7 are heavier than the threshold and meet away from the root.
  const OrderedTree tree(growth, {1, 1, 1, 1, 1, 20, 1, 30});
  EXPECT_EQ(tree.neighbours(5).parent, 0);
  EXPECT_EQ(tree.neighbours(7).parent, 0);
  Bytes reaching_root = 1;
  for (const Subtree& child : tree.neighbours(0).children) reaching_root += child.bytes;
  EXPECT_EQ(reaching_root, 56);
}

TEST(OrderedTree, TakesFewerRoundsWithMorePorts) {
  for (const auto& [ports, levels] : {std::pair{1, 6}, std::pair{3, 3}, std::pair{7, 2}}) {
    Growth growth = plain(64, 0, JoinRule::volume);
    growth.parameters.ports = ports;
    growth.half_performance_length = 1;
    EXPECT_EQ(growth.levels(), levels);
    // Each round costs alpha and the largest of each group's simultaneous messages.
    EXPECT_EQ(OrderedTree(growth, 0).lemma_time(), 0);  // empty messages are not sent
    EXPECT_EQ(OrderedTree(growth, 1).lemma_time(), levels + 63 / ports);
  }
}

}  // namespace
}  // namespace tutti
