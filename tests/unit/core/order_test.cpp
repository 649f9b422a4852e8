/// Orders are bijections with the root where the shapes expect it.
#include "core/order.hpp"

#include <gtest/gtest.h>

#include "algorithms/problems.hpp"
#include "orders/orders.hpp"
#include "shapes/knomial.hpp"
#include "shapes/sequences.hpp"

namespace tutti {
namespace {

std::vector<Rank> listed(const Order& order) {
  std::vector<Rank> ranks;
  for (Position position = 0; position < order.size(); ++position) {
    ranks.push_back(order.rank_at(position));
    EXPECT_EQ(order.position_of(ranks.back()), position);
  }
  return ranks;
}

TEST(Order, NaturalPutsTheRootFirst) {
  EXPECT_EQ(listed(Order::natural(5, 2)), (std::vector<Rank>{2, 0, 1, 3, 4}));
}

TEST(Order, RotatedStartsAtTheRoot) {
  EXPECT_EQ(listed(Order::rotated(5, 2)), (std::vector<Rank>{2, 3, 4, 0, 1}));
}

TEST(Order, BySizeGivesLargeBlocksTheFewestHops) {
  // Depths of positions 1..5 in a binomial tree are 1 1 2 1 2; sizes by rank 5 1 9 3 7 2.
  const Depth depth = [](Position v) { return v == 3 || v == 5 ? 2 : 1; };
  EXPECT_EQ(listed(by_size({5, 1, 9, 3, 7, 2}, 0, depth)), (std::vector<Rank>{0, 2, 4, 5, 3, 1}));
}

TEST(Order, ByArrivalSeatsTheEarliestFirst) {
  EXPECT_EQ(listed(by_arrival({0, 3, 1, 1}, 0, {3, 1, 2})), (std::vector<Rank>{0, 3, 1, 2}));
}

TEST(Sequence, OfAScatterReachesLargeSubtreesFirst) {
  EXPECT_EQ(large_subtrees_first(8, 2), (std::vector<Position>{4, 2, 6, 1, 3, 5, 7}));
  EXPECT_EQ(large_subtrees_first(11, 2), (std::vector<Position>{8, 4, 2, 6, 10, 1, 3, 5, 7, 9}));
  EXPECT_EQ(large_subtrees_first(11, 3), (std::vector<Position>{9, 6, 3, 2, 5, 8, 1, 4, 7, 10}));
  EXPECT_TRUE(large_subtrees_first(1, 2).empty());
}

TEST(Sequence, OfAGatherEndsWithTheLeavesOfTheRoot) {
  EXPECT_EQ(long_ways_first(8, 2, Receives::early), (std::vector<Position>{7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(long_ways_first(8, 2, Receives::on_arrival),
            (std::vector<Position>{7, 6, 4, 5, 3, 2, 1}));
  // p = 11, k = 3: 10 sends 1 block to 9, which sends 2; 6 sends its 3 blocks straight.
  EXPECT_EQ(long_ways_first(11, 3, Receives::early),
            (std::vector<Position>{8, 7, 5, 4, 10, 6, 3, 9, 2, 1}));
}

TEST(Sequence, LetsNoRankWaitForALaterOneInAScatter) {
  for (int p = 1; p <= 100; ++p) {
    for (const int k : {2, 3, 4, 7}) {
      const Knomial tree(p, k);
      std::vector<int> turn(static_cast<std::size_t>(p), -1);
      int next = 0;
      for (const Position v : large_subtrees_first(p, k)) {
        EXPECT_LT(turn[static_cast<std::size_t>(tree.parent(v))], next);
        EXPECT_EQ(std::exchange(turn[static_cast<std::size_t>(v)], next++), -1);
      }
      EXPECT_EQ(next, p - 1);
    }
  }
}

// A specification's order, for p = 8, root 2 and arrivals by rank.
std::vector<Rank> order_by(Collective collective, const char* text) {
  const std::vector<double> arrivals = {30, 20, 0, 20, 10, 90, 50, 40};
  return listed(order_of(*specification(collective, text), 8, 2, {nullptr, &arrivals}));
}

TEST(Order, OfASpecificationFollowsTheArrivals) {
  // The others by (arrival, rank): 4 1 3 0 7 6 5.
  const std::vector<Rank> in_turn = {2, 4, 1, 3, 0, 7, 6, 5};
  for (const Collective collective :
       {Collective::gather, Collective::gatherv, Collective::scatter, Collective::scatterv}) {
    EXPECT_EQ(order_by(collective, "linear:order=arrival"), in_turn);
    EXPECT_EQ(order_by(collective, "linear:order=late_leaf"), in_turn);
  }
  // Scatter: 4 2 6 1 3 5 7 take them; gather: 7 5 3 1 6 2 4; with late_leaf 7 6 4 5 3 2 1,
  // in the background 7 6 5 4 3 2 1.
  const std::vector<Rank> scatter = {2, 0, 1, 7, 4, 6, 3, 5};
  EXPECT_EQ(order_by(Collective::scatter, "binomial:order=arrival"), scatter);
  EXPECT_EQ(order_by(Collective::scatterv, "binomial:order=late_leaf"), scatter);
  EXPECT_EQ(order_by(Collective::gather, "binomial:order=arrival"),
            (std::vector<Rank>{2, 0, 6, 3, 5, 1, 7, 4}));
  EXPECT_EQ(order_by(Collective::gatherv, "binomial:order=late_leaf"),
            (std::vector<Rank>{2, 5, 6, 7, 3, 0, 1, 4}));
  EXPECT_EQ(order_by(Collective::gatherv, "binomial:order=late_leaf,runner=background"),
            (std::vector<Rank>{2, 5, 6, 7, 0, 3, 1, 4}));
}

TEST(Order, WithoutItsDataIsOneThatAllRanksKnow) {
  const std::vector<double> none;
  for (const char* text : {"linear:order=arrival", "knomial:k=3,order=arrival",
                           "binomial:order=late_leaf", "binomial:order=distance"}) {
    const Specification spec = *specification(Collective::gather, text);
    const std::vector<Rank> expected = listed(Order::rotated(11, 4));
    EXPECT_EQ(listed(order_of(spec, 11, 4, {})), expected);
    EXPECT_EQ(listed(order_of(spec, 11, 4, {nullptr, &none})), expected);
  }
  const Specification ring = *specification(Collective::allgather, "ring:order=arrival");
  EXPECT_EQ(listed(order_of(ring, 3, 0, {nullptr, &none})), (std::vector<Rank>{0, 1, 2}));
  const Specification sized = *specification(Collective::gatherv, "linear:order=by_size");
  EXPECT_EQ(listed(order_of(sized, 11, 4, {})), listed(Order::natural(11, 4)));
  const std::vector<Bytes> sizes = {5, 1, 9, 3};
  EXPECT_EQ(listed(order_of(sized, 4, 1, {&sizes})), (std::vector<Rank>{1, 2, 0, 3}));
}

TEST(Order, BySizeOfEqualBlocksNeedsNoSizes) {
  const std::vector<Bytes> equal(11, 5);
  const auto order = [](Collective collective, const Expected& expected) {
    return listed(
        order_of(*specification(collective, "knomial:k=3,order=by_size"), 11, 4, expected));
  };
  EXPECT_EQ(order(Collective::gather, {}), order(Collective::gatherv, {&equal}));
}

}  // namespace
}  // namespace tutti
