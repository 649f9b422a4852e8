/// Rounds of real schedules, links that messages share, and the orders of running programs.
#include "select/rank_orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "cost/traffic.hpp"
#include "orders/orders.hpp"
#include "select/tuning_candidates.hpp"
#include "topology/shared_links.hpp"
#include "unit/distance_helpers.hpp"

namespace tutti {
namespace {

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

int rounds_of(const Traffic& traffic) {
  int rounds = 0;
  for (const Traffic::Round& round : traffic.rounds) rounds += round.times;
  return rounds;
}

TEST(Traffic, OfManyRanksIsThatOfRealSchedules) {
  for (int p = 1; p <= 33; ++p) {
    const Specification chain = spec(Collective::bcast, "chain");
    EXPECT_EQ(rounds_of(traffic_of(chain, p, 50000)), rounds_of(shape_traffic_of(chain, p, 50000)));
    for (const auto& [collective, algorithm] : {std::pair{Collective::allgather, "ring"},
                                                {Collective::allreduce, "ring"},
                                                {Collective::scatter, "linear_sequence"},
                                                {Collective::gather, "linear_sequence"}}) {
      // All ranks have parts of equal size.
      const Specification one = spec(collective, algorithm);
      EXPECT_EQ(text_of(traffic_of(one, p, 3 * p)), text_of(shape_traffic_of(one, p, 3 * p)));
    }
  }
  // With unequal parts a ring of a few more ranks has its shape's rounds too, so that a program
  // lists it soon.
  EXPECT_EQ(rounds_of(traffic(Collective::allreduce, "ring", 33, 1000)), 64);
  EXPECT_GT(traffic(Collective::allreduce, "ring", 33, 1000).rounds.size(), 1U);
  EXPECT_EQ(rounds_of(traffic(Collective::allreduce, "ring", 64, 1000)), 126);
  EXPECT_EQ(traffic(Collective::allreduce, "ring", 64, 1000).rounds.size(), 1U);
  EXPECT_EQ(traffic(Collective::bcast, "scatter_allgather", 64, 1000).rounds.size(), 7U);
}

TEST(Traffic, OfTreesAndRecursiveDoubling) {
  EXPECT_EQ(text_of(traffic(Collective::gather, "binomial", 6, 3)),
            "1x 1>0:3 3>2:3 5>4:3; 1x 2>0:6; 1x 4>0:6; ");
  EXPECT_EQ(text_of(traffic(Collective::scatter, "binomial", 8, 3)),
            "1x 0>4:12; 1x 0>2:6 4>6:6; 1x 0>1:3 2>3:3 4>5:3 6>7:3; ");
  EXPECT_EQ(text_of(traffic(Collective::bcast, "knomial:k=3", 9, 3)),
            "1x 0>6:3; 1x 0>3:3 6>8:3; 1x 0>2:3 3>5:3 6>7:3; 1x 0>1:3 3>4:3; ");
  EXPECT_EQ(text_of(traffic(Collective::allgather, "recursive_doubling", 4, 3)),
            "1x 0>1:3 1>0:3 2>3:3 3>2:3; 1x 0>2:6 1>3:6 2>0:6 3>1:6; ");
  // They come from real schedules with any number of ranks.
  EXPECT_EQ(traffic(Collective::gather, "binomial", 1024, 3).rounds.size(), 10U);
  EXPECT_EQ(doubling_traffic(1024, 3).rounds.size(), 10U);
  EXPECT_EQ(rounds_of(traffic(Collective::allreduce, "halving_doubling", 256, 512)), 16);
  EXPECT_EQ(rounds_of(traffic(Collective::allgather, "bruck", 200, 3)), 8);
  EXPECT_EQ(rounds_of(traffic(Collective::reduce_scatter, "circulant", 200, 4)), 8);
  // A binomial scatter, then a ring.
  EXPECT_EQ(rounds_of(traffic(Collective::bcast, "scatter_allgather", 200, 400)), 8 + 199);
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

int in_turn(Rank rank) { return rank % 2; }
/// 0 1 1 0 0 1 1 0: neighbours and partners of recursive doubling are often at the other one.
int mixed(Rank rank) { return (rank ^ (rank >> 1)) % 2; }

Fabric two_switches(int p, int (*switch_of)(Rank) = in_turn) {
  std::vector<int> of_ranks;
  for (Rank rank = 0; rank < p; ++rank) of_ranks.push_back(switch_of(rank));
  return at_switches(of_ranks);
}

TEST(SharedLinks, AreThoseOfClustersWithANarrowLink) {
  const Fabric fabric = two_switches(8);
  ASSERT_EQ(fabric.shared.size(), 1U);
  EXPECT_EQ(fabric.shared[0].group, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(fabric.shared[0].per_byte, (std::vector<double>{4, 4}));
  EXPECT_EQ(fabric.shared[0].latency, (std::vector<double>{50, 50}));
}

TEST(SharedLinks, MakeARoundAsLongAsAllThatCrosses) {
  const Fabric fabric = two_switches(8);
  // All 8 messages of the natural ring cross, 4 each way; sorted by switch one each way does.
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric, identity(8)), 7 * (50 + 16000));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric, {0, 2, 4, 6, 7, 5, 3, 1}),
                   7 * (50 + 4000));
  // Alone they would all be as fast, and no order would gain.
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(8, 1000), fabric.links, identity(8)),
                   7 * (50 + 4000));
}

TEST(SharedLinks, MakeAnOrderWorthIt) {
  const Fabric fabric = two_switches(8);
  const Reordering ring = reordered(ring_traffic(8, 1000), fabric, 1000, {0, true});
  EXPECT_DOUBLE_EQ(ring.best.seconds, 7 * (50 + 4000));
  EXPECT_FALSE(reordered(ring_traffic(8, 1000), fabric.links, 1000, {0, true}).helps());
  // Of rounds of 1, 2 and 4 blocks the lightest crosses, 4 messages each way at once.
  const Reordering doubling = reordered(doubling_traffic(8, 1000), fabric, 1000, {0, true});
  EXPECT_DOUBLE_EQ(doubling.best.seconds, 50 + 16000 + 50 + 2000 + 50 + 4000);
}

TEST(SharedLinks, OfNodesAreTheirCables) {
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
  ASSERT_EQ(fabric.shared.size(), 1U);
  EXPECT_EQ(fabric.shared[0].per_byte, (std::vector<double>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(6, 1000), fabric, {0, 2, 4, 1, 3, 5}),
                   5 * (10 + 2000));
  EXPECT_DOUBLE_EQ(rounds_seconds(ring_traffic(6, 1000), fabric, identity(6)), 5 * (10 + 1000));
}

TEST(SharedLinks, AreUnknownWhereOneMessageAloneIsNoSlower) {
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
  ASSERT_EQ(fabric.shared.size(), 1U);
  EXPECT_EQ(fabric.shared[0].per_byte, (std::vector<double>{0, 0}));
}

TEST(Placing, GivesHeuristicsAsTheyAreAndOthersNeverSlowerThanNatural) {
  const Fabric figure = by_bytes(figure_1().distances);
  const auto ring = spec(Collective::allgather, "RMH");
  EXPECT_EQ(rank_orders_of(ring, figure, 0).of(16), (Ranks{0, 1, 3, 7, 5, 6, 4, 2}));
  const auto doubling = spec(Collective::allgather, "RDMH");
  EXPECT_EQ(rank_orders_of(doubling, figure, 0).of(16), (Ranks{0, 3, 2, 6, 1, 5, 7, 4}));
  // By hand from the figure's matrix: see HeaviestFirst for the rules.
  EXPECT_EQ(rank_orders_of(spec(Collective::bcast, "BBMH"), figure, 0).of(16),
            (Ranks{0, 1, 2, 7, 4, 6, 5, 3}));
  EXPECT_EQ(rank_orders_of(spec(Collective::gather, "BGMH"), figure, 0).of(16),
            (Ranks{0, 4, 2, 6, 1, 7, 3, 5}));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Fabric fabric = seed % 2 == 0 ? grouped(11, seed) : random_fabric(11, seed);
    for (const char* name : {"binomial:order=distance", "knomial:k=3,order=distance"}) {
      const Specification by_distance = spec(Collective::gather, name);
      const RankOrders placements = rank_orders_of(by_distance, fabric, 4);
      for (const Bytes block : RankOrders::blocks) {
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
  return {Links({0, first}, {1000, second}), fabric.shared};
}

TEST(Placing, IsOneForAllBlocksOfCallsWithoutClasses) {
  const Fabric fabric = slow_to_begin(two_switches(8));
  const auto by_distance = [&](Collective collective) {
    return rank_orders_of(spec(collective, "binomial:order=distance"), fabric, 0).of_class;
  };
  const auto regular = by_distance(Collective::gather);
  const auto irregular = by_distance(Collective::gatherv);
  EXPECT_NE(regular.front(), regular.back());
  for (const Ranks& ranks : irregular) EXPECT_EQ(ranks, irregular[RankOrders::any_class]);
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
    const auto [small, large] = std::pair(RankOrders::blocks.front(), RankOrders::blocks.back());
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

std::vector<Specification> gains(Collective collective, const Fabric& fabric, Bytes block) {
  std::map<std::string, RankOrders> found;
  return gaining_by_distance(
      candidates_by_distance({.collective = collective, .p = fabric.size()}), block, fabric,
      [&](const Specification& candidate) -> const RankOrders& {
        return found.try_emplace(to_text(candidate), rank_orders_of(candidate, fabric, 0))
            .first->second;
      });
}

std::optional<Specification> gain(Collective collective, const Fabric& fabric, Bytes block) {
  const std::vector<Specification> all = gains(collective, fabric, block);
  return all.empty() ? std::nullopt : std::optional(all[0]);
}

TEST(Placing, AllGainsAreCandidatesTheFastestFirst) {
  const Fabric alternating = two_switches(8, mixed);
  const std::vector<Specification> all = gains(Collective::bcast, alternating, 1 << 20);
  ASSERT_GT(all.size(), 1U);
  double before = 0;
  for (const Specification& one : all) {
    const double seconds = rounds_seconds(traffic_of(one, 8, 1 << 20, Roots::between), alternating,
                                          rank_orders_of(one, alternating, 0).of(1 << 20));
    EXPECT_LE(before, seconds) << to_text(one);
    before = seconds;
  }
  const std::vector<Specification> tried =
      candidates_by_distance({.collective = Collective::bcast, .p = 8});
  const auto seconds_in = [&](const Specification& one, const std::vector<Rank>& ranks) {
    return rounds_seconds(traffic_of(one, 8, 1 << 20, Roots::between), alternating, ranks);
  };
  double native = std::numeric_limits<double>::infinity();  // the usual ones are among them
  for (const Specification& one : tried) native = std::min(native, seconds_in(one, identity(8)));
  for (const Specification& one : tried) {
    const std::vector<Rank> ranks = rank_orders_of(one, alternating, 0).of(1 << 20);
    EXPECT_EQ(std::ranges::count(all, one), 1.25 * seconds_in(one, ranks) < native ? 1 : 0)
        << to_text(one);
  }
  EXPECT_TRUE(candidates_by_distance({.collective = Collective::alltoall, .p = 8}).empty());
  EXPECT_TRUE(gains(Collective::alltoall, alternating, 1 << 20).empty());
}

TEST(Placing, GainsByDistanceWhereTheNaturalOrderCrossesSlowLinks) {
  // Recursive doubling is as good as can be where ranks are at both switches in turn.
  const Fabric alternating = two_switches(8, mixed);
  EXPECT_FALSE(gain(Collective::allgather, two_switches(8), 1 << 16));
  const Fabric even = Links({1, switches(9, 1, 1, 1)}, 5, 1);
  for (const Collective collective :
       {Collective::allgather, Collective::allgatherv, Collective::allreduce,
        Collective::reduce_scatter, Collective::reduce_scatter_block, Collective::bcast,
        Collective::reduce}) {
    const auto found = gain(collective, alternating, 1 << 20);
    ASSERT_TRUE(found) << name_of(collective);
    EXPECT_EQ(found->order, has_root(collective) ? OrderName::cycle : OrderName::distance);
    EXPECT_EQ(found->algorithm->collective, collective);
    EXPECT_FALSE(gain(collective, even, 1 << 20)) << name_of(collective);
  }
  // Nothing whose order counts.
  EXPECT_FALSE(gain(Collective::alltoall, alternating, 1 << 20));
  // Never one that is modelled slower than the best natural order, in the mean over roots.
  int taken = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Fabric fabric = grouped(7, seed);
    const auto found = gain(Collective::bcast, fabric, 1024);
    if (!found) continue;
    ++taken;
    const double placed = rounds_seconds(traffic_of(*found, 7, 1024), fabric,
                                         rank_orders_of(*found, fabric, 0).of(1024));
    for (const char* name : {"binomial:order=cycle", "scatter_allgather:order=cycle"}) {
      EXPECT_LT(1.25 * placed,
                rounds_seconds(traffic(Collective::bcast, name, 7, 1024), fabric, identity(7)));
    }
  }
  EXPECT_GT(taken, 0);
}

TEST(Placing, GainsNothingOverWhatTheMpiUsuallyRuns) {
  // Messages cost their latency: 10 between two switches, 1 at one of them.
  Distances small(8);
  Distances large(8);
  for (Rank a = 0; a < 8; ++a) {
    for (Rank b = 0; b < 8; ++b) {
      if (a == b) continue;
      small.set(a, b, mixed(a) == mixed(b) ? 1 : 10);
      large.set(a, b, mixed(a) == mixed(b) ? 1.001 : 10.004);
    }
  }
  const Fabric fabric = fabric_of({"", {}, {8, {}}, {{0, small}, {1000, large}}}, 0, 0);
  // Its order halves the time of halving_doubling, which has twice the rounds.
  const Specification halving = spec(Collective::allreduce, "halving_doubling:order=distance");
  const Traffic traffic = traffic_of(halving, 8, 64);
  EXPECT_LT(1.25 * rounds_seconds(traffic, fabric, rank_orders_of(halving, fabric, 0).of(64)),
            rounds_seconds(traffic, fabric, identity(8)));
  EXPECT_FALSE(gain(Collective::allreduce, fabric, 64));
}

TEST(Placing, StagesNoMoreThanIsPermitted) {
  Features features = {.collective = Collective::allreduce, .p = 8, .block = 1 << 20};
  features.staging = 2 << 20;
  const std::vector<Specification> all = candidates_by_distance(features);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(to_text(all[0]), "ring:order=distance");
  features.native_only = true;
  EXPECT_TRUE(candidates_by_distance(features).empty());
}

}  // namespace
}  // namespace tutti
