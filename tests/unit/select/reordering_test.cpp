/// Orders by distance: the numbers of papers, optima, and that none is worse than natural.
#include <gtest/gtest.h>

#include "orders/orders.hpp"
#include "select/rank_orders.hpp"
#include "unit/distance_helpers.hpp"

namespace tutti {
namespace {

TEST(NearestNext, IsTheMappingOfFigure1) {
  const Distances distances = figure_1().distances;
  const Ranks ring = nearest_next(distances, 0);
  EXPECT_EQ(ring, (Ranks{0, 1, 3, 7, 5, 6, 4, 2}));
  EXPECT_NEAR(ring_times(distances, identity(8)).sum, 0.382, 5e-4);
  EXPECT_NEAR(ring_times(distances, identity(8)).longest, 0.0967, 5e-5);
  EXPECT_NEAR(ring_times(distances, ring).sum, 0.1993, 5e-5);
  EXPECT_NEAR(ring_times(distances, ring).longest, 0.0466, 5e-5);
  // The least of all rings, which the heuristic misses.
  double sum = 1;
  double longest = 1;
  for (Ranks any = identity(8); std::next_permutation(any.begin() + 1, any.end());) {
    sum = std::min(sum, ring_times(distances, any).sum);
    longest = std::min(longest, ring_times(distances, any).longest);
  }
  EXPECT_NEAR(sum, 0.1845, 5e-5);
  EXPECT_NEAR(longest, 0.0345, 5e-5);
}

TEST(WithoutSlowLinks, FindsTheFastestSlowestLinkOfFigure1) {
  const Distances distances = figure_1().distances;
  const Ranks ring = without_slow_links(distances, nearest_next(distances, 0), 1000000);
  expect_permutation(ring, 0);
  EXPECT_NEAR(ring_times(distances, ring).longest, 0.0345, 5e-5);
  EXPECT_NEAR(ring_times(distances, ring).sum, 0.1949, 5e-5);
}

/// The least slowest link of all rings, either direction of a link being as slow as the slower.
double min_slowest_link(const Distances& distances) {
  double least = 1e9;
  for (Ranks ring = identity(distances.size());;) {
    const Ranks back(ring.rbegin(), ring.rend());
    least = std::min(
        least, std::max(ring_times(distances, ring).longest, ring_times(distances, back).longest));
    if (!std::next_permutation(ring.begin() + 1, ring.end())) return least;
  }
}

TEST(WithoutSlowLinks, FindsTheOptimumOfSmallRings) {
  int optima = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Distances distances = random_distances(7, seed);
    const Ranks ring = without_slow_links(distances, nearest_next(distances, 3), 1000000);
    expect_permutation(ring, 3);
    const Ranks back(ring.rbegin(), ring.rend());
    const double longest =
        std::max(ring_times(distances, ring).longest, ring_times(distances, back).longest);
    EXPECT_GE(longest, min_slowest_link(distances));
    optima += longest == min_slowest_link(distances) ? 1 : 0;
  }
  EXPECT_GE(optima, 18);
}

TEST(WithoutSlowLinks, CrossesTheLinkBetweenSwitchesTwice) {
  for (const int p : {5, 12, 100}) {
    const Distances distances = switches(p, 2, 10, 5);
    const Ranks ring = without_slow_links(distances, identity(p), 10000000);
    EXPECT_DOUBLE_EQ(ring_times(distances, ring).sum, (p - 2) + 2 * 10);
  }
}

TEST(OrdersByDistance, ArePermutationsWhereNoMessageReachesAPosition) {
  const Distances distances = figure_1().distances;
  const Traffic silent = {8, {}};
  const Traffic apart = {8, {Traffic::Round{1, {{2, 6, 4}, {6, 7, 1}}}}};
  for (const Traffic& traffic : {silent, apart}) {
    expect_permutation(two_partners_each(distances, traffic, 3), 3);
    expect_permutation(heaviest_first(distances, traffic, 3), 3);
    const Fabric fabric(by_bytes(distances));
    const Reordering found = reordered(traffic, fabric, 1, {3, true}, 1000);
    expect_permutation(found.best.ranks, 3);
  }
}

TEST(TwoPartnersEach, IsWorseThanNaturalOnFigure1UntilRanksAreSwapped) {
  const Distances distances = figure_1().distances;
  const Links links = by_bytes(distances);
  const Traffic traffic = doubling_traffic(8, 1);  // rounds of 1, 2 and 4 blocks
  const Ranks ranks = two_partners_each(distances, traffic, 0);
  EXPECT_EQ(ranks, (Ranks{0, 3, 2, 6, 1, 5, 7, 4}));
  EXPECT_NEAR(rounds_seconds(traffic, links, identity(8)), 0.272, 5e-4);
  EXPECT_NEAR(rounds_seconds(traffic, links, ranks), 0.329, 5e-4);
  const Ranks swapped = local_search(ranks, traffic, links, false, 1000000);
  EXPECT_NEAR(rounds_seconds(traffic, links, swapped), 0.2045, 5e-5);
  double least = 1;
  for (Ranks any = identity(8); std::next_permutation(any.begin() + 1, any.end());) {
    least = std::min(least, rounds_seconds(traffic, links, any));
  }
  EXPECT_DOUBLE_EQ(rounds_seconds(traffic, links, swapped), least);
}

TEST(TwoPartnersEach, KeepsTheHeavyRoundsWithinASwitch) {
  const Distances distances = switches(16, 2, 10, 7);
  const Traffic traffic = doubling_traffic(16, 1);
  const Links links = by_bytes(distances);
  // Rounds of 1, 2, 4 and 8 blocks: only the lightest crosses.
  EXPECT_DOUBLE_EQ(rounds_seconds(traffic, links, two_partners_each(distances, traffic, 0)), 24);
  EXPECT_GT(rounds_seconds(traffic, links, identity(16)), 24);
}

TEST(HeaviestFirst, FillsTreesFromWhereMostIsSent) {
  // Ranks on a line: the distance is the difference.
  Distances line(8);
  for (Rank a = 0; a < 8; ++a) {
    for (Rank b = 0; b < 8; ++b) line.set(a, b, std::abs(a - b));
  }
  // Gather: position 4 sends 4 blocks, then 2 and 6 send 2, then 1, 5, 3, 7 send 1.
  EXPECT_EQ(heaviest_first(line, tree_traffic(Collective::gather, 8, 1), 0),
            (Ranks{0, 4, 2, 6, 1, 5, 3, 7}));
  // Broadcast: depth first, smallest subtrees first.
  EXPECT_EQ(heaviest_first(line, tree_traffic(Collective::bcast, 8, 1), 0),
            (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
}

/// The free rank nearest to that at `near`, ties to the lowest.
Rank take_nearest(const Distances& distances, std::vector<bool>& taken, Rank near, bool to_it) {
  Rank best = no_rank;
  const auto distance = [&](Rank rank) {
    return to_it ? distances(rank, near) : distances(near, rank);
  };
  for (Rank rank = 0; rank < distances.size(); ++rank) {
    if (taken[index(rank)]) continue;
    if (best == no_rank || distance(rank) < distance(best)) best = rank;
  }
  taken[index(best)] = true;
  return best;
}

/// BBMH: the subtrees of `v` by size, each to its end before the next.
void map_broadcast(const Distances& distances, Position v, Ranks& at, std::vector<bool>& taken) {
  const int p = distances.size();
  for (Position step = 1; v + step < p && (v & step) == 0; step *= 2) {
    at[index(v + step)] = take_nearest(distances, taken, at[index(v)], false);
    map_broadcast(distances, v + step, at, taken);
  }
}

/// BGMH, for powers of two: halves, quarters, .. of all positions that have ranks, in their turn.
void map_gather(const Distances& distances, Ranks& at, std::vector<bool>& taken) {
  std::vector<Position> placed = {0};
  for (Position step = distances.size() / 2; step > 0; step /= 2) {
    for (std::size_t i = 0, known = placed.size(); i < known; ++i) {
      const Position child = placed[i] + step;
      at[index(child)] = take_nearest(distances, taken, at[index(placed[i])], true);
      placed.push_back(child);
    }
  }
}

TEST(HeaviestFirst, IsTheHeuristicForBinomialBroadcasts) {
  for (const int p : {1, 2, 3, 6, 8, 11, 16, 31, 64}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Distances distances =
          p == 8 && seed == 0 ? figure_1().distances : random_distances(p, seed);
      const Rank root = static_cast<Rank>(seed) % p;
      Ranks expected(index(p), no_rank);
      std::vector<bool> taken(index(p), false);
      expected[0] = root;
      taken[index(root)] = true;
      map_broadcast(distances, 0, expected, taken);
      EXPECT_EQ(heaviest_first(distances, tree_traffic(Collective::bcast, p, 1000), root),
                expected);
    }
  }
}

TEST(HeaviestFirst, IsTheHeuristicForBinomialGathers) {
  for (const int p : {1, 2, 4, 8, 16, 64}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Distances distances =
          p == 8 && seed == 0 ? figure_1().distances : random_distances(p, seed);
      const Rank root = static_cast<Rank>(seed) % p;
      Ranks expected(index(p), no_rank);
      std::vector<bool> taken(index(p), false);
      expected[0] = root;
      taken[index(root)] = true;
      map_gather(distances, expected, taken);
      EXPECT_EQ(heaviest_first(distances, tree_traffic(Collective::gather, p, 1000), root),
                expected);
    }
  }
}

TEST(HeaviestFirst, KeepsLargeSubtreesWithinASwitch) {
  const Distances distances = switches(32, 2, 10, 9);
  const Links links = by_bytes(distances);
  for (const Traffic& traffic :
       {tree_traffic(Collective::gather, 32, 1), tree_traffic(Collective::scatter, 32, 1)}) {
    const Ranks ranks = heaviest_first(distances, traffic, 0);
    EXPECT_LT(rounds_seconds(traffic, links, ranks), rounds_seconds(traffic, links, identity(32)));
  }
}

TEST(Traffic, MovesWhatTheCollectiveMust) {
  for (int p = 1; p <= 40; ++p) {
    const auto moved = [](const Traffic& traffic) {
      Bytes bytes = 0;
      for (const Traffic::Round& round : traffic.rounds) {
        for (const Traffic::Message& message : round.messages) bytes += round.times * message.bytes;
      }
      return bytes;
    };
    // Every position must get p - 1 blocks, and the tree is that of popcounts.
    EXPECT_EQ(moved(ring_traffic(p, 3)), Bytes{3} * p * (p - 1));
    EXPECT_EQ(moved(doubling_traffic(p, 3)), Bytes{3} * p * (p - 1));
    EXPECT_EQ(moved(star_traffic(p, 3)), Bytes{3} * (p - 1));
    EXPECT_EQ(moved(traffic(Collective::bcast, "knomial:k=3", p, 5)), Bytes{5} * (p - 1));
    Bytes hops = 0;
    for (Position v = 0; v < p; ++v) hops += __builtin_popcount(static_cast<unsigned>(v));
    EXPECT_EQ(moved(tree_traffic(Collective::gather, p, 3)), 3 * hops);
    EXPECT_EQ(moved(tree_traffic(Collective::scatter, p, 3)), 3 * hops);
  }
}

std::vector<Traffic> all_traffics(int p) {
  return {ring_traffic(p, 3),
          doubling_traffic(p, 3),
          star_traffic(p, 3),
          tree_traffic(Collective::gather, p, 3),
          traffic(Collective::scatter, "knomial:k=4", p, 3),
          traffic(Collective::bcast, "knomial:k=3", p, 3)};
}

TEST(Reordering, IsNeverSlowerThanNatural) {
  for (const int p : {1, 2, 3, 4, 6, 7, 8, 11, 16, 23}) {
    for (const Traffic& traffic : all_traffics(p)) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Fabric links = seed == 2 ? grouped(p, seed) : random_fabric(p, seed);
        const Anchor anchor{p / 2, seed != 0};
        const Reordering found = reordered(traffic, links, 3, anchor, 200000);
        for (const CandidateOrder& seating : found.all) {
          expect_permutation(seating.ranks, anchor.fixed ? anchor.first : seating.ranks.front());
          EXPECT_GE(seating.seconds, found.best.seconds * (1 - 1e-9));
          EXPECT_DOUBLE_EQ(seating.seconds, rounds_seconds(traffic, links, seating.ranks));
        }
        EXPECT_LE(found.best.seconds, found.natural.seconds);
        EXPECT_EQ(found.helps(), found.best.seconds < found.natural.seconds);
        EXPECT_EQ(found.natural.ranks.front(), anchor.first);
      }
    }
  }
}

TEST(Reordering, KeepsTheNaturalOrderWhereAllAreAsNear) {
  for (const Traffic& traffic : all_traffics(9)) {
    const Links links({1, switches(9, 1, 1, 1)}, 5, 1);
    EXPECT_FALSE(reordered(traffic, links, 3, {2, true}).helps());
  }
}

TEST(Reordering, FindsTheOptimaOfFigure1) {
  const Links links = by_bytes(figure_1().distances);
  EXPECT_NEAR(reordered(doubling_traffic(8, 1), links, 1, {0, false}).best.seconds, 0.2045, 5e-5);
  EXPECT_NEAR(reordered(ring_traffic(8, 1), links, 1, {0, false}).best.seconds, 7 * 0.034503, 1e-6);
}

TEST(Reordering, EndsWithinItsBudgetForThousandsOfRanks) {
  const Links links = by_bytes(switches(1000, 4, 10, 11));
  for (const Traffic& traffic : {ring_traffic(1000, 1), doubling_traffic(1000, 1)}) {
    const Reordering found = reordered(traffic, links, 1, {0, false}, 1000000);
    EXPECT_LE(found.best.seconds, found.natural.seconds);
  }
}

}  // namespace
}  // namespace tutti
