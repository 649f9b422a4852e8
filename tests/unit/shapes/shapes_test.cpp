/// Rank arithmetic of k-nomial and Bine trees, and Bine butterflies.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ranges>
#include <set>

#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"

namespace tutti {
namespace {

TEST(Knomial, IsATreeOfRanges) {
  for (int k = 2; k <= 8; ++k) {
    for (int p = 1; p <= 100; ++p) {
      const Knomial tree(p, k);
      for (Position v = 0; v < p; ++v) {
        // Its own place, then the children's subtrees one after the other, fill its subtree.
        BlockIndex at = v + 1;
        for (const Position child : tree.children(v)) {
          ASSERT_EQ(tree.parent(child), v);
          ASSERT_EQ(tree.subtree(child).begin, at);
          ASSERT_EQ(tree.depth(child), tree.depth(v) + 1);
          at = tree.subtree(child).end;
        }
        ASSERT_EQ(at, tree.subtree(v).end) << "k " << k << " p " << p << " v " << v;
      }
    }
  }
}

TEST(Knomial, WithKTwoIsBitArithmetic) {
  const Knomial tree(64, 2);
  for (Position v = 1; v < 64; ++v) {
    EXPECT_EQ(tree.parent(v), v & (v - 1));
    EXPECT_EQ(tree.depth(v), std::popcount(static_cast<unsigned>(v)));
    EXPECT_EQ(tree.subtree(v).count(), v & -v);
  }
}

TEST(Knomial, GivesTheRootFewChildren) {
  EXPECT_EQ(Knomial(64, 2).children(0).size(), 6U);
  EXPECT_EQ(Knomial(64, 4).children(0).size(), 9U);  // 3 for each of 3 digits
  EXPECT_EQ(Knomial(1, 2).children(0).size(), 0U);
}

/// The children of position v, in the sequence of the sends.
TEST(BineTree, IsATreeOfRangesInTheFewestRounds) {
  for (int p = 1; p <= 300; ++p) {
    const BineTree tree(p);
    int reached = 1;
    std::vector<int> informed(static_cast<std::size_t>(p), 0);  // in the round of this number
    std::vector<Position> senders = {tree.root()};
    for (std::size_t i = 0; i < senders.size(); ++i) {
      const Position v = senders[i];
      int round = informed[static_cast<std::size_t>(v)];
      BlockIndex inside = 1;
      for (const Position child : tree.children(v) | std::views::reverse) {
        ++reached;
        inside += tree.subtree(child).count();
        ASSERT_EQ(tree.parent(child), v);
        ASSERT_TRUE(tree.subtree(child).contains(child));
        ASSERT_TRUE(tree.subtree(v).contains(child));
        informed[static_cast<std::size_t>(child)] = ++round;
        senders.push_back(child);
      }
      ASSERT_EQ(inside, tree.subtree(v).count()) << "p " << p << " v " << v;
    }
    ASSERT_EQ(reached, p);
    ASSERT_EQ(*std::max_element(informed.begin(), informed.end()),
              std::bit_width(static_cast<unsigned>(p - 1)));
  }
}

// De Sensi et al. 2025: the root sends over the sums of (-2)^i, and a rank that is an odd distance
// away sends over the negated ones.
TEST(BineTree, IsThatOfThePaperForPowersOfTwo) {
  const BineTree tree(16);
  const Position root = tree.root();
  EXPECT_EQ(tree.children(root), (std::vector<Position>{root + 1, root - 1, root + 3, root - 5}));
  EXPECT_EQ(tree.children(root - 5), (std::vector<Position>{root - 6, root - 4, root - 8}));
  EXPECT_EQ(tree.children(root + 3), (std::vector<Position>{root + 2, root + 4}));
}

TEST(BineTree, HasShorterDistancesThanTheBinomialTree) {
  const auto distance = [](int p, Position a, Position b) {
    const int up = (a - b + p) % p;
    return std::min(up, p - up);
  };
  for (const int p : {6, 11, 24, 100, 256, 1000}) {
    const BineTree bine(p);
    const Knomial binomial(p, 2);
    int near = 0;
    int far = 0;
    for (Position v = 0; v < p; ++v) {
      if (v != bine.root()) near += distance(p, v, bine.parent(v));
      if (v != 0) far += distance(p, v, binomial.parent(v));
    }
    EXPECT_LT(near, 0.8 * far) << p;
  }
}

TEST(BineButterfly, CollectsCyclicRangesFromAllGroups) {
  for (int groups = 1; groups <= 256; groups *= 2) {
    const BineButterfly butterfly(groups);
    const int steps = std::countr_zero(static_cast<unsigned>(groups));
    for (int group = 0; group < groups; ++group) {
      std::set<int> held = {group};
      for (int step = 0; step <= steps; ++step) {
        ASSERT_EQ(held.size(), std::size_t{1} << step);
        for (int i = 0; i < 1 << step; ++i) {
          ASSERT_TRUE(held.contains((butterfly.first_held(group, step) + i) % groups))
              << groups << " groups, group " << group << ", step " << step;
        }
        if (step == steps) break;
        const int partner = butterfly.partner(group, step);
        ASSERT_EQ(butterfly.partner(partner, step), group);
        for (int i = 0; i < 1 << step; ++i) {
          held.insert((butterfly.first_held(partner, step) + i) % groups);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tutti
