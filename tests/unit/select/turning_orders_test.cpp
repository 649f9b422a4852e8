/// Orders that turn with the root: one order by distance serves all roots of a collective.
#include <gtest/gtest.h>

#include <random>

#include "algorithms/problems.hpp"
#include "orders/orders.hpp"
#include "select/rank_orders.hpp"
#include "unit/distance_helpers.hpp"

namespace tutti {
namespace {

struct Rooted {
  Collective collective;
  const char* algorithm;

  [[nodiscard]] Specification one_root() const { return *specification(collective, algorithm); }
  [[nodiscard]] Specification all_roots() const {
    return *specification(collective, std::string(algorithm) + ":order=cycle");
  }
};

constexpr Rooted all_rooted[] = {
    {Collective::bcast, "binomial"},   {Collective::bcast, "chain"},
    {Collective::bcast, "circulant"},  {Collective::bcast, "scatter_allgather"},
    {Collective::reduce, "binomial"},  {Collective::reduce, "scatter_gather"},
    {Collective::reduce, "circulant"}, {Collective::gather, "linear"}};

/// Ranks at 2 to 4 switches, all but the last with as many odd ones, numbered at random.
std::vector<int> some_switches(int p, std::uint64_t seed) {
  const int count = 2 + static_cast<int>(seed % 3);
  const int each = (p / count - 1) | 1;
  std::vector<int> switch_of;
  for (Rank rank = 0; rank < p; ++rank) switch_of.push_back(std::min(rank / each, count - 1));
  std::mt19937_64 random(seed);
  std::shuffle(switch_of.begin(), switch_of.end(), random);
  return switch_of;
}

Ranks shuffled(int p, std::uint64_t seed) {
  Ranks ranks = identity(p);
  std::mt19937_64 random(seed);
  std::shuffle(ranks.begin(), ranks.end(), random);
  return ranks;
}

/// The rank at each position of a call.
Ranks ranks_for(const Specification& specification, Rank root, const Ranks& cycle) {
  const int p = static_cast<int>(cycle.size());
  return order_of(specification, p, root, {nullptr, nullptr, &cycle}).ranks();
}

TEST(TurningOrder, BeginsAtEachRootAndKeepsTheCycle) {
  for (int p = 1; p <= 33; ++p) {
    const Ranks cycle = shuffled(p, static_cast<std::uint64_t>(p));
    for (const Rooted& rooted : all_rooted) {
      for (std::size_t first = 0; first < cycle.size(); ++first) {
        const Ranks ranks = ranks_for(rooted.all_roots(), cycle[first], cycle);
        expect_permutation(ranks, cycle[first]);
        for (std::size_t v = 0; v < cycle.size(); ++v) {
          ASSERT_EQ(ranks[v], cycle[(first + v) % cycle.size()]);
        }
      }
    }
  }
}

TEST(TurningOrder, IsTheRotatedOneWhereNoDistancesAreKnown) {
  const Specification one = all_rooted[0].all_roots();
  EXPECT_EQ(order_of(one, 5, 2, {}).ranks(), (Ranks{2, 3, 4, 0, 1}));
}

TEST(TurningOrder, TakesTheTimeOfACallByEachRoot) {
  for (const int p : {1, 2, 3, 4, 7, 8, 13, 33}) {
    const Fabric fabric = grouped(p, 3);
    const Ranks cycle = shuffled(p, 5);
    for (const Rooted& rooted : all_rooted) {
      const int roots = roots_of(p);
      double sum = 0;
      for (int i = 0; i < roots; ++i) {
        const Ranks ranks = ranks_for(rooted.all_roots(), cycle[index(i * p / roots)], cycle);
        sum += rounds_seconds(traffic_of(rooted.one_root(), p, 50000), fabric, ranks);
      }
      const double all = rounds_seconds(traffic_of(rooted.all_roots(), p, 50000), fabric, cycle);
      EXPECT_NEAR(all, sum, 1e-9 * sum) << rooted.algorithm << ", p = " << p;
    }
  }
}

/// What an order gains over the natural one, summed over calls by these roots.
double gain_of(const Traffic& traffic, const Fabric& fabric, const Ranks& ranks) {
  return rounds_seconds(traffic, fabric, identity(traffic.p)) /
         rounds_seconds(traffic, fabric, ranks);
}

TEST(TurningOrder, IsJudgedByOtherRootsThanThoseOfTheSearch) {
  double searched = 0;
  double between = 0;
  for (const int p : {20, 33, 48}) {
    const Fabric fabric = grouped(p, 2);
    for (const Rooted& rooted : all_rooted) {
      const Ranks found = rank_orders_of(rooted.all_roots(), fabric, 0).of(1 << 14);
      const Traffic one = traffic_of(rooted.one_root(), p, 1 << 14);
      double natural = 0;
      double placed = 0;
      for (Position first = 0; first < p; ++first) {
        Ranks turned = found;
        std::rotate(turned.begin(), turned.begin() + first, turned.end());
        placed += rounds_seconds(one, fabric, turned);
        Ranks usual = identity(p);
        std::rotate(usual.begin(), usual.begin() + first, usual.end());
        natural += rounds_seconds(one, fabric, usual);
      }
      const auto error = [&](Roots roots) {
        const Traffic some = traffic_of(rooted.all_roots(), p, 1 << 14, roots);
        return std::abs(gain_of(some, fabric, found) / (natural / placed) - 1);
      };
      searched += error(Roots::searched);
      between += error(Roots::between);
    }
  }
  EXPECT_LT(between, searched);
}

/// The least time of all orders; calls by all roots take as long from any rank on.
double least_of_all(const Traffic& traffic, const Fabric& fabric) {
  double least = 1e300;
  for (Ranks any = identity(traffic.p);;) {
    least = std::min(least, rounds_seconds(traffic, fabric, any));
    if (!std::next_permutation(any.begin() + 1, any.end())) return least;
  }
}

TEST(TurningOrder, IsNearlyTheBestOfAll) {
  for (const int p : {4, 5, 6, 7}) {
    for (const Rooted& rooted : all_rooted) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Fabric fabric =
            seed < 3 ? at_switches(some_switches(p, seed)) : random_fabric(p, seed);
        const Traffic traffic = traffic_of(rooted.all_roots(), p, 50000);
        const Anchor anchor = anchor_of(rooted.all_roots(), 0);
        const double found = reordered(traffic, fabric, 50000, anchor, 1'000'000).best.seconds;
        const double least = least_of_all(traffic, fabric);
        EXPECT_GE(found, least * (1 - 1e-9)) << rooted.algorithm << ", p = " << p;
        EXPECT_LE(found, least * (seed < 3 ? 1.02 : 1.1))
            << rooted.algorithm << ", p = " << p << ", seed " << seed;
      }
    }
  }
}

TEST(TurningOrder, IsFoundForAnyRoot) {
  const Fabric fabric = at_switches(some_switches(12, 1));
  for (const Rooted& rooted : all_rooted) {
    const RankOrders orders = rank_orders_of(rooted.all_roots(), fabric, 0);
    EXPECT_EQ(rank_orders_of(rooted.all_roots(), fabric, 7).of_class, orders.of_class);
    for (const Ranks& ranks : orders.of_class) expect_permutation(ranks, ranks.front());
  }
}

/// The most messages of a round that leave a switch, or reach it.
int most_across(const Traffic& traffic, const std::vector<int>& switch_of, const Ranks& ranks) {
  int most = 0;
  for (const Traffic::Round& round : traffic.rounds) {
    std::vector<int> out(4, 0);
    std::vector<int> in(4, 0);
    for (const auto& [from, to, bytes] : round.messages) {
      const int left = switch_of[index(ranks[index(from)])];
      const int reached = switch_of[index(ranks[index(to)])];
      if (left == reached) continue;
      most = std::max({most, ++out[index(left)], ++in[index(reached)]});
    }
  }
  return most;
}

// Why one cycle serves all roots: where it passes each switch once, a round of a chain or down a
// binomial tree sends one message at most over each link of a switch, whichever the root is.
TEST(TurningOrder, CrossesEachLinkOnceInARound) {
  for (int p = 4; p <= 33; ++p) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const std::vector<int> switch_of = some_switches(p, seed);
      Ranks cycle = identity(p);
      std::ranges::stable_sort(cycle, {}, [&](Rank rank) { return switch_of[index(rank)]; });
      for (const Rooted& rooted : {all_rooted[0], all_rooted[1]}) {
        const Traffic traffic = traffic_of(rooted.one_root(), p, 50000);
        for (Rank root = 0; root < p; ++root) {
          const Ranks ranks = ranks_for(rooted.all_roots(), root, cycle);
          ASSERT_EQ(most_across(traffic, switch_of, ranks), 1)
              << rooted.algorithm << ", p = " << p << ", root " << root;
        }
      }
    }
  }
}

// A search finds such a cycle, or an order as good.
TEST(TurningOrder, GainsWhereRanksOfSwitchesAreMixed) {
  for (const int p : {13, 33}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const std::vector<int> switch_of = some_switches(p, seed);
      const Fabric fabric = at_switches(switch_of);
      Ranks sorted = identity(p);
      std::ranges::stable_sort(sorted, {}, [&](Rank rank) { return switch_of[index(rank)]; });
      for (const Rooted& rooted : {all_rooted[0], all_rooted[1], all_rooted[2], all_rooted[3]}) {
        const Traffic traffic = traffic_of(rooted.all_roots(), p, 50000);
        const Reordering found =
            reordered(traffic, fabric, 50000, anchor_of(rooted.all_roots(), 0), 1'000'000);
        EXPECT_LE(found.best.seconds, rounds_seconds(traffic, fabric, sorted) * 1.02)
            << rooted.algorithm << ", p = " << p << ", seed " << seed;
        EXPECT_GE(found.gain(), 1.1) << rooted.algorithm << ", p = " << p << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
