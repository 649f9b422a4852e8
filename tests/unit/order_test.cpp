/// Orders are bijections with the root where the shapes expect it.
#include "core/order.hpp"

#include <gtest/gtest.h>

#include "orders/orders.hpp"

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

}  // namespace
}  // namespace tutti
