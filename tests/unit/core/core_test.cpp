/// The nouns: names, sizes, distributions, contracts.
#include <gtest/gtest.h>

#include <numeric>

#include "core/distributions.hpp"
#include "core/problem.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {
namespace {

TEST(Collective, IsFoundByItsName) {
  for (const Collective collective : all_collectives) {
    EXPECT_EQ(collective_named(name_of(collective)), collective);
  }
  EXPECT_EQ(collective_named("MPI_Gatherv"), Collective::gatherv);
  EXPECT_EQ(collective_named("SCATTER"), Collective::scatter);
  EXPECT_EQ(collective_named("gathervv"), std::nullopt);
  EXPECT_EQ(collective_named(""), std::nullopt);
}

TEST(Result, IsAValueOrAnError) {
  const Result<int> value = 3;
  const Result<int> error = Error{"no"};
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error(), "no");
}

TEST(Sizes, KnowRangesByPosition) {
  const Order order = Order::rotated(4, 2);  // 2 3 0 1
  const Sizes all = Sizes::all({1, 2, 4, 8}, order);
  EXPECT_EQ(all.of({0, 4}), 15);
  EXPECT_EQ(all.of({1, 3}), 9);  // ranks 3 and 0
  EXPECT_EQ(all.of({2, 2}), 0);
  EXPECT_EQ(Sizes::equal(5).of({1, 4}), 15);
  const Sizes some = Sizes::some({{{2, 4}, 10}, {{1, 2}, 3}});
  EXPECT_EQ(some.of({1, 2}), 3);
  EXPECT_EQ(some.of({1, 4}), 13);
}

TEST(Sizes, OfPartsDifferByAtMostOneElement) {
  for (const Bytes elements : {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{1000}, Bytes{5} << 40}) {
    for (const int parts : {1, 2, 3, 7, 64, 1000}) {
      const Sizes sizes = Sizes::parts(elements, 8, 1).cut(parts);
      Bytes all = 0;
      for (BlockIndex part = 0; part < parts; ++part) {
        const Bytes bytes = sizes.of({part, part + 1});
        EXPECT_EQ(bytes % 8, 0);
        EXPECT_GE(bytes / 8, elements / parts);
        EXPECT_LE(bytes / 8, (elements + parts - 1) / parts);
        all += bytes;
      }
      EXPECT_EQ(all, 8 * elements) << parts << " parts";
      EXPECT_EQ(sizes.of({0, parts}), all) << parts << " parts";
    }
  }
}

TEST(Sizes, OfPairsAreThoseThatARankSendsAndReceives) {
  // Rank 2 is at position 1; pair s * 3 + d is from position s to position d.
  const Order order = Order::rotated(3, 1);  // 1 2 0
  const Sizes sizes = Sizes::pairs({1, 2, 4}, {8, 16, 32}, order, 2);
  EXPECT_EQ(sizes.of({3, 4}), 2) << "to rank 1";
  EXPECT_EQ(sizes.of({5, 6}), 1) << "to rank 0";
  EXPECT_EQ(sizes.of({3, 6}), 1 + 2 + 4);
  EXPECT_EQ(sizes.of({1, 2}), 16) << "from rank 1";
  EXPECT_EQ(sizes.of({7, 8}), 8) << "from rank 0";
}

TEST(Distribution, IsFoundByItsName) {
  for (const Distribution distribution : all_distributions) {
    EXPECT_EQ(distribution_named(name_of(distribution)), distribution);
  }
  EXPECT_EQ(distribution_named("two-blocks"), Distribution::two_blocks);
  EXPECT_EQ(distribution_named("gaussian"), std::nullopt);
}

TEST(Distribution, FollowsThePaper) {
  EXPECT_EQ(distribute(Distribution::same, 3, 10), (std::vector<Bytes>{10, 10, 10}));
  EXPECT_EQ(distribute(Distribution::decreasing, 4, 10), (std::vector<Bytes>{21, 16, 11, 6}));
  EXPECT_EQ(distribute(Distribution::alternating, 3, 5), (std::vector<Bytes>{7, 3, 7}));
  EXPECT_EQ(distribute(Distribution::two_blocks, 4, 9), (std::vector<Bytes>{9, 0, 0, 9}));
  EXPECT_EQ(distribute(Distribution::two_blocks, 1, 9), (std::vector<Bytes>{9}));
  EXPECT_EQ(distribute(Distribution::random, 5, 0), std::vector<Bytes>(5, 0));
  // The totals that the paper's tables print for p = 560.
  const auto total = [](Bytes b) {
    const auto blocks = distribute(Distribution::decreasing, 560, b);
    return std::accumulate(blocks.begin(), blocks.end(), Bytes{0});
  };
  EXPECT_EQ(total(1), 842);
  EXPECT_EQ(total(10), 5900);
  EXPECT_EQ(total(100), 56400);
}

TEST(Distribution, DrawsAroundItsAverageAndDependsOnTheSeedAlone) {
  for (const Distribution distribution : {Distribution::random, Distribution::spikes}) {
    const auto blocks = distribute(distribution, 20000, 100);
    const auto total = std::accumulate(blocks.begin(), blocks.end(), Bytes{0});
    EXPECT_NEAR(static_cast<double>(total) / 20000, 100, 5) << name_of(distribution);
    EXPECT_EQ(blocks, distribute(distribution, 20000, 100, 1));
    EXPECT_NE(blocks, distribute(distribution, 20000, 100, 2));
  }
  for (const Bytes bytes : distribute(Distribution::random, 1000, 3)) {
    EXPECT_GE(bytes, 1);
    EXPECT_LE(bytes, 6);
  }
  for (const Bytes bytes : distribute(Distribution::spikes, 1000, 3, 1, 4)) {
    EXPECT_TRUE(bytes == 1 || bytes == 12) << bytes;
  }
}

}  // namespace
}  // namespace tutti
