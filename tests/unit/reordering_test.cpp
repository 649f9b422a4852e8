/// Orders by distance: the numbers of papers, optima, and that none is worse than natural.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

#include "algorithms/traffic.hpp"
#include "choose/placing.hpp"
#include "knowledge/distance_file.hpp"
#include "knowledge/shared_ways.hpp"
#include "orders/by_distance.hpp"
#include "orders/descent.hpp"
#include "shapes/traffic.hpp"

namespace tutti {
namespace {

using Ranks = std::vector<Rank>;

/// Figure 1 of Bhowmik & Bodele 2019, in its own unit.
MeasuredDistances figure_1() {
  std::ifstream file(TUTTI_TEST_DATA "/../examples/place/bhowmik-bodele-2019.json");
  std::ostringstream text;
  text << file.rdbuf();
  MeasuredDistances measured = distances_from_text(text.str())->measured[0];
  for (Rank a = 0; a < 8; ++a) {
    for (Rank b = 0; b < 8; ++b) measured.distances.set(a, b, measured.distances(a, b) * 1e3);
  }
  return measured;
}

/// A message of n bytes takes n times the distance.
Links by_bytes(const Distances& distances) { return {{1, distances}, 0, 1}; }

/// Numbers 1 to 1000, not the same both ways.
Distances random_distances(int p, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Distances distances(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      if (a != b) distances.set(a, b, static_cast<double>(1 + random() % 1000));
    }
  }
  return distances;
}

/// `count` groups, to which ranks belong at random: 1 within, `far` across.
Distances switches(int p, int count, double far, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Ranks shuffled(static_cast<std::size_t>(p));
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  Distances distances(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      const bool near = shuffled[static_cast<std::size_t>(a)] % count ==
                        shuffled[static_cast<std::size_t>(b)] % count;
      if (a != b) distances.set(a, b, near ? 1 : far);
    }
  }
  return distances;
}

Ranks identity(int p) {
  Ranks ranks(static_cast<std::size_t>(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

struct RingTimes {
  double sum = 0;
  double longest = 0;
};

RingTimes ring_times(const Distances& distances, const Ranks& ranks) {
  RingTimes times;
  for (std::size_t v = 0; v < ranks.size(); ++v) {
    const double link = distances(ranks[v], ranks[(v + 1) % ranks.size()]);
    times.sum += link;
    times.longest = std::max(times.longest, link);
  }
  return times;
}

void expect_permutation(const Ranks& ranks, Rank first) {
  ASSERT_EQ(ranks.front(), first);
  Ranks sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, identity(static_cast<int>(ranks.size())));
}

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
double least_slowest_link(const Distances& distances) {
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
    EXPECT_GE(longest, least_slowest_link(distances));
    optima += longest == least_slowest_link(distances) ? 1 : 0;
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

TEST(TwoPartnersEach, IsWorseThanNaturalOnFigure1UntilRanksAreSwapped) {
  const Distances distances = figure_1().distances;
  const Links links = by_bytes(distances);
  const Traffic traffic = doubling_traffic(8, 1);  // rounds of 1, 2 and 4 blocks
  const Ranks ranks = two_partners_each(distances, traffic, 0);
  EXPECT_EQ(ranks, (Ranks{0, 3, 2, 6, 1, 5, 7, 4}));
  EXPECT_NEAR(rounds_seconds(traffic, links, identity(8)), 0.272, 5e-4);
  EXPECT_NEAR(rounds_seconds(traffic, links, ranks), 0.329, 5e-4);
  const Ranks swapped = descend(ranks, traffic, links, false, 1000000);
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
  EXPECT_EQ(heaviest_first(line, tree_gather_traffic(8, 2, 1), 0), (Ranks{0, 4, 2, 6, 1, 5, 3, 7}));
  // Broadcast: depth first, smallest subtrees first.
  EXPECT_EQ(heaviest_first(line, tree_bcast_traffic(8, 2, 1), 0), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(HeaviestFirst, KeepsLargeSubtreesWithinASwitch) {
  const Distances distances = switches(32, 2, 10, 9);
  const Links links = by_bytes(distances);
  for (const Traffic& traffic : {tree_gather_traffic(32, 2, 1), tree_scatter_traffic(32, 2, 1)}) {
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
    EXPECT_EQ(moved(star_traffic(p, 3, true)), Bytes{3} * (p - 1));
    EXPECT_EQ(moved(tree_bcast_traffic(p, 3, 5)), Bytes{5} * (p - 1));
    Bytes hops = 0;
    for (Position v = 0; v < p; ++v) hops += __builtin_popcount(static_cast<unsigned>(v));
    EXPECT_EQ(moved(tree_gather_traffic(p, 2, 3)), 3 * hops);
    EXPECT_EQ(moved(tree_scatter_traffic(p, 2, 3)), 3 * hops);
  }
}

Specification spec(Collective collective, const char* text) {
  return *specification(collective, text);
}

std::string text_of(const Traffic& traffic) {
  std::string text;
  for (const Traffic::Round& round : traffic.rounds) {
    text += std::to_string(round.times) + "x";
    for (const auto& [from, to, bytes] : round.messages) {
      text += " " + std::to_string(from) + ">" + std::to_string(to) + ":" + std::to_string(bytes);
    }
    text += "; ";
  }
  return text;
}

TEST(Traffic, OfRealSchedulesIsThatOfTheirShapes) {
  const auto expect_same = [](const Traffic& real, Traffic shape) {
    std::erase_if(shape.rounds, [](const auto& round) { return round.messages.empty(); });
    for (Traffic::Round& round : shape.rounds) {
      std::sort(round.messages.begin(), round.messages.end(),
                [](const auto& a, const auto& b) { return a.from < b.from; });
    }
    EXPECT_EQ(text_of(real), text_of(shape));
  };
  for (int p = 1; p <= 33; ++p) {
    expect_same(traffic_of(spec(Collective::allgather, "ring"), p, 3), ring_traffic(p, 3));
    // Of other numbers some ranks may begin their next round before the others.
    if ((p & (p - 1)) != 0) continue;
    expect_same(traffic_of(spec(Collective::allgather, "recursive_doubling"), p, 3),
                doubling_traffic(p, 3));
    expect_same(traffic_of(spec(Collective::gather, "binomial"), p, 3),
                tree_gather_traffic(p, 2, 3));
    expect_same(traffic_of(spec(Collective::scatter, "binomial"), p, 3),
                tree_scatter_traffic(p, 2, 3));
    expect_same(traffic_of(spec(Collective::bcast, "binomial"), p, 3), tree_bcast_traffic(p, 2, 3));
  }
}

TEST(Traffic, OfAnyScheduleMovesEachBlockWhereItMust) {
  const auto messages = [](const Traffic& traffic) {
    int count = 0;
    for (const Traffic::Round& round : traffic.rounds) {
      count += round.times * static_cast<int>(round.messages.size());
    }
    return count;
  };
  const int p = 12;
  EXPECT_EQ(messages(traffic_of(spec(Collective::alltoall, "pairwise"), p, 3)), p * (p - 1));
  EXPECT_EQ(traffic_of(spec(Collective::allgather, "bruck"), p, 3).rounds.size(), 4U);
  EXPECT_EQ(traffic_of(spec(Collective::gather, "linear"), p, 3).rounds.size(), 11U);
}

/// Ranks at two switches in turn, joined by a link of a quarter of the nodes' rate.
Fabric two_switches(int p) {
  Distances small(p);
  Distances large(p);
  for (Rank a = 0; a < p; ++a) {
    for (Rank b = 0; b < p; ++b) {
      if (a == b) continue;
      small.set(a, b, 50);
      large.set(a, b, a % 2 == b % 2 ? 50 + 1000 : 50 + 4000);
    }
  }
  return fabric_of({"", {}, {p, {}}, {{0, small}, {1000, large}}}, 0, 0);
}

TEST(SharedWays, AreThoseOfClustersWithANarrowLink) {
  const Fabric fabric = two_switches(8);
  ASSERT_EQ(fabric.ways.size(), 1U);
  EXPECT_EQ(fabric.ways[0].group, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(fabric.ways[0].per_byte, (std::vector<double>{4, 4}));
  EXPECT_EQ(fabric.ways[0].latency, (std::vector<double>{50, 50}));
}

TEST(SharedWays, MakeARoundAsLongAsAllThatCrosses) {
  const Fabric fabric = two_switches(8);
  // All 8 messages of the natural ring cross, 4 each way; sorted by switch one each way does.
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric, identity(8)), 7 * (50 + 16000));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric, {0, 2, 4, 6, 7, 5, 3, 1}),
                   7 * (50 + 4000));
  // Alone they would all be as fast, and no order would gain.
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric.links, identity(8)),
                   7 * (50 + 4000));
}

TEST(SharedWays, MakeAnOrderWorthIt) {
  const Fabric fabric = two_switches(8);
  const Reordering ring = reordered(ring_traffic(8, 1000), fabric, 1000, {0, true});
  EXPECT_DOUBLE_EQ(ring.best.seconds, 7 * (50 + 4000));
  EXPECT_FALSE(reordered(ring_traffic(8, 1000), fabric.links, 1000, {0, true}).helps());
  // Of rounds of 1, 2 and 4 blocks the lightest crosses, 4 messages each way at once.
  const Reordering doubling = reordered(doubling_traffic(8, 1000), fabric, 1000, {0, true});
  EXPECT_DOUBLE_EQ(doubling.best.seconds, 50 + 16000 + 50 + 2000 + 50 + 4000);
}

TEST(SharedWays, OfNodesAreTheirCables) {
  // Two ranks on each of three nodes: near within, 1 a byte across.
  Distances small(6);
  Distances large(6);
  for (Rank a = 0; a < 6; ++a) {
    for (Rank b = 0; b < 6; ++b) {
      if (a == b) continue;
      small.set(a, b, 10);
      large.set(a, b, a / 2 == b / 2 ? 110 : 1010);
    }
  }
  const std::vector<std::string> names = {"a", "a", "b", "b", "c", "c"};
  const Fabric fabric = fabric_of({"", names, {6, {}}, {{0, small}, {1000, large}}}, 0, 0);
  ASSERT_EQ(fabric.ways.size(), 1U);
  EXPECT_EQ(fabric.ways[0].per_byte, (std::vector<double>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(6, 1000), fabric, {0, 2, 4, 1, 3, 5}),
                   5 * (10 + 2000));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(6, 1000), fabric, identity(6)), 5 * (10 + 1000));
}

TEST(SharedWays, AreUnknownWhereOneMessageAloneIsNoSlower) {
  Distances small(4);
  Distances large(4);
  for (Rank a = 0; a < 4; ++a) {
    for (Rank b = 0; b < 4; ++b) {
      if (a != b) small.set(a, b, 10);
      if (a != b) large.set(a, b, 1010);
    }
  }
  const Hierarchy levels{4, {{0, 0, 1, 1}}};
  const Fabric fabric = fabric_of({"", {}, levels, {{0, small}, {1000, large}}}, 0, 0);
  ASSERT_EQ(fabric.ways.size(), 1U);
  EXPECT_EQ(fabric.ways[0].per_byte, (std::vector<double>{0, 0}));
}

std::vector<Traffic> all_traffics(int p) {
  return {ring_traffic(p, 3),           doubling_traffic(p, 3),        star_traffic(p, 3, false),
          tree_gather_traffic(p, 2, 3), tree_scatter_traffic(p, 4, 3), tree_bcast_traffic(p, 3, 3)};
}

Fabric random_fabric(int p, std::uint64_t seed) {
  return Links({1, random_distances(p, seed)}, 5, 1);
}

/// The same with ranks in three groups that share ways.
Fabric grouped(int p, std::uint64_t seed) {
  Fabric fabric = random_fabric(p, seed);
  SharedWays ways{{}, {1, 2, 3}, {500, 0, 700}};
  for (Rank rank = 0; rank < p; ++rank) ways.group.push_back(rank % 3);
  fabric.ways.push_back(ways);
  return fabric;
}

TEST(Reordering, IsNeverSlowerThanNatural) {
  for (const int p : {1, 2, 3, 4, 6, 7, 8, 11, 16, 23}) {
    for (const Traffic& traffic : all_traffics(p)) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Fabric links = seed == 2 ? grouped(p, seed) : random_fabric(p, seed);
        const Anchor anchor{p / 2, seed != 0};
        const Reordering found = reordered(traffic, links, 3, anchor, 200000);
        for (const Seating& seating : found.all) {
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

TEST(Placing, GivesHeuristicsAsTheyAreAndOthersNeverSlowerThanNatural) {
  const Fabric figure = by_bytes(figure_1().distances);
  const auto ring = spec(Collective::allgather, "RMH");
  EXPECT_EQ(placements_of(ring, figure, 0).of(16), (Ranks{0, 1, 3, 7, 5, 6, 4, 2}));
  const auto doubling = spec(Collective::allgather, "RDMH");
  EXPECT_EQ(placements_of(doubling, figure, 0).of(16), (Ranks{0, 3, 2, 6, 1, 5, 7, 4}));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Fabric fabric = seed % 2 == 0 ? grouped(11, seed) : random_fabric(11, seed);
    for (const char* name : {"binomial:order=distance", "knomial:k=3,order=distance"}) {
      const Specification by_distance = spec(Collective::gather, name);
      const Placements placements = placements_of(by_distance, fabric, 4);
      for (const Bytes block : Placements::blocks) {
        const Traffic traffic = traffic_of(by_distance, 11, block);
        expect_permutation(placements.of(block), 4);
        const Reordering found = reordered(traffic, fabric, block, {4, true}, 1000000);
        EXPECT_LE(rounds_seconds(traffic, fabric, placements.of(block)), found.natural.seconds);
      }
    }
  }
}

/// The same, where a small message costs its latency.
Fabric slow_to_begin(Fabric fabric) {
  Distances first(fabric.size());
  Distances second(fabric.size());
  for (Rank a = 0; a < fabric.size(); ++a) {
    for (Rank b = 0; b < fabric.size(); ++b) {
      if (a == b) continue;
      first.set(a, b, 1e5);
      second.set(a, b, 1e5 + 1000 * fabric.links.per_byte(a, b));
    }
  }
  return {Links({0, first}, {1000, second}), fabric.ways};
}

TEST(Placing, OfACommunicatorIsInNoShapeSlower) {
  const auto seconds = [](Collective collective, const char* name, const Fabric& fabric,
                          const Ranks& ranks, Bytes block) {
    return rounds_seconds(traffic_of(spec(collective, name), fabric.size(), block), fabric, ranks);
  };
  for (const Fabric& fabric : {two_switches(12), grouped(12, 1), random_fabric(12, 2)}) {
    const Ranks ranks = order_for_all(std::nullopt, fabric);
    expect_permutation(ranks, 0);
    double sum = 0;
    const auto weigh = [&](Collective collective, const char* name, Bytes block) {
      const double ratio = seconds(collective, name, fabric, ranks, block) /
                           seconds(collective, name, fabric, identity(12), block);
      EXPECT_LE(ratio, 1.01);
      sum += ratio;
    };
    const auto [small, large] = std::pair(Placements::blocks.front(), Placements::blocks.back());
    weigh(Collective::allgather, "recursive_doubling", small);
    weigh(Collective::allgather, "ring", large);
    for (const Collective collective :
         {Collective::bcast, Collective::gather, Collective::scatter}) {
      weigh(collective, "binomial", small);
      weigh(collective, "binomial", large);
    }
    EXPECT_LE(sum, 8 * (1 + 1e-6));
  }
  // Ranks that alternate between two switches gain.
  const Fabric alternating = slow_to_begin(two_switches(8));
  EXPECT_NE(order_for_all(Collective::allgather, alternating), identity(8));
  EXPECT_EQ(order_for_all(std::nullopt, Links({1, switches(9, 1, 1, 1)}, 5, 1)), identity(9));
  // Of every collective there is a shape to go by.
  for (const Collective collective : all_collectives) {
    expect_permutation(order_for_all(collective, two_switches(6)), 0);
  }
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
