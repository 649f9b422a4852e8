/// k-nomial rank arithmetic.
#include <gtest/gtest.h>

#include <bit>

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

}  // namespace
}  // namespace tutti
