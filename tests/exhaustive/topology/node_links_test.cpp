/// Few links of nodes stand for all, on machines of several kinds and sizes, with noise.
#include "topology/node_links.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "unit/link_helpers.hpp"

namespace tutti {
namespace {

/// How much longer noise makes a message at most. Less than what tells groups apart.
constexpr double noise = 1.1;

int all_pairs(int n) { return n * (n - 1) / 2; }

/// Each measurement takes up to 10 % longer.
TimeBetween noisy(const TimeBetween& time, std::uint64_t seed) {
  return [time, random = std::mt19937_64(seed)](int a, int b) mutable {
    return time(a, b) * std::uniform_real_distribution(1.0, noise)(random);
  };
}

/// The largest factor between a link of the completed ones and the true one.
double error_of(const NodeLinks& measured, const TimeBetween& time) {
  const NodeLinks all = completed(measured);
  double most = 1;
  for (int a = 0; a < all.nodes(); ++a) {
    for (int b = a + 1; b < all.nodes(); ++b) {
      const NodeLinks::Seconds* const found = all.find(a, b);
      if (found == nullptr) return INFINITY;
      const double ratio = (*found)[1] / time(a, b);
      most = std::max({most, ratio, 1 / ratio});
    }
  }
  return most;
}

/// Calls visit(n, seed) for many sizes and seeds.
template <class Visit>
void for_each_machine(Visit visit) {
  for (int n = 4; n <= 40; n += n < 12 ? 1 : 7) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) visit(n, seed);
  }
}

TEST(LinkPlan, FindsThatAllAreAlike) {
  for_each_machine([](int n, std::uint64_t seed) {
    const MeasuredNodes found = measured_nodes(n, noisy([](int, int) { return 5.0; }, seed));
    EXPECT_EQ(found.pairs, 2 * n - 3) << n;
    EXPECT_TRUE(are_alike(found.links)) << n;
  });
}

// Nodes belong to the switches at random, at least 2 to each.
TEST(LinkPlan, FindsTwoSwitches) {
  for_each_machine([](int n, std::uint64_t seed) {
    const std::vector<int> place = shuffled(n, seed);
    const int first = 2 + static_cast<int>(seed) % (n - 3);
    const TimeBetween time = [&](int a, int b) {
      return (place[index(a)] < first) == (place[index(b)] < first) ? 1.0 : 3.0;
    };
    const MeasuredNodes found = measured_nodes(n, noisy(time, seed));
    EXPECT_LE(found.rows, 4) << n << " " << seed;
    EXPECT_FALSE(are_alike(found.links)) << n << " " << seed;
    EXPECT_LT(error_of(found.links, time), 1.01 * noise) << n << " " << seed;
  });
}

// Racks of 4 nodes, 2 racks in a group: 1 within a rack, 2 within a group, 4 beyond.
TEST(LinkPlan, FindsThreeLevels) {
  for_each_machine([](int n, std::uint64_t seed) {
    const std::vector<int> place = shuffled(n, seed);
    const TimeBetween time = [&](int a, int b) {
      const int one = place[index(a)];
      const int other = place[index(b)];
      return one / 4 == other / 4 ? 1.0 : one / 8 == other / 8 ? 2.0 : 4.0;
    };
    const MeasuredNodes found = measured_nodes(n, noisy(time, seed));
    const int racks = (n + 3) / 4;
    EXPECT_LE(found.rows, 2 * racks + 1) << n << " " << seed;
    EXPECT_LT(error_of(found.links, time), 1.01 * noise) << n << " " << seed;
  });
}

// All nodes are at places of their own, so that all pairs are measured but for those of few that
// look alike from afar.
TEST(LinkPlan, FindsALine) {
  for_each_machine([](int n, std::uint64_t seed) {
    const std::vector<int> place = shuffled(n, seed);
    const TimeBetween time = [&](int a, int b) {
      return static_cast<double>(std::abs(place[index(a)] - place[index(b)]));
    };
    const MeasuredNodes found = measured_nodes(n, time);
    EXPECT_LE(found.pairs, all_pairs(n));
    EXPECT_FALSE(are_alike(found.links));
    EXPECT_LT(error_of(found.links, time), 2) << n << " " << seed;
  });
}

// Nodes of a group in which node 0 is alone: none is near it.
TEST(LinkPlan, FindsGroupsThatAreEquallyFarFromNode0) {
  for (int n = 5; n <= 41; n += 4) {
    const TimeBetween time = [](int a, int b) {
      return a > 0 && b > 0 && (a - 1) / 4 == (b - 1) / 4 ? 1.0 : 3.0;
    };
    const MeasuredNodes found = measured_nodes(n, time);
    EXPECT_FALSE(are_alike(found.links)) << n;
    EXPECT_LE(found.rows, 2 * (n - 1) / 4 + 1) << n;
    EXPECT_EQ(error_of(found.links, time), 1) << n;
  }
}

// Whatever the times, all pairs are measured at most.
TEST(LinkPlan, EndsAmidAnyNoise) {
  for_each_machine([](int n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const MeasuredNodes found = measured_nodes(
        n, [&](int, int) { return std::exp(std::uniform_real_distribution(0.0, 3.0)(random)); });
    EXPECT_LE(found.pairs, all_pairs(n));
    const NodeLinks all = completed(found.links);
    EXPECT_EQ(all.all().size(), static_cast<std::size_t>(all_pairs(n)));
  });
}

// 64 nodes at 2 switches: the links of 4 nodes, not all 2,016.
TEST(LinkPlan, TakesFewLinksOfLargeMachines) {
  const MeasuredNodes found =
      measured_nodes(64, [](int a, int b) { return a % 2 == b % 2 ? 1.0 : 3.0; });
  EXPECT_EQ(found.pairs, 63 + 62 + 61 + 60);
}

}  // namespace
}  // namespace tutti
