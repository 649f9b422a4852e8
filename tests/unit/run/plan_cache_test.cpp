/// Which plans a communicator keeps.
#include <gtest/gtest.h>

#include <utility>

#include "run/plan/planner.hpp"

namespace tutti {
namespace {

TEST(PlanCache, FindsWhatItKeepsAndDropsTheOldest) {
  PlanCache cache;
  PlanKey key;
  for (int root = 0; root < 40; ++root) {
    key.root = root;
    Plan plan;
    plan.key = key;
    cache.keep(std::move(plan));
  }
  key.root = 39;
  EXPECT_NE(cache.find(key), nullptr);
  key.root = 0;
  EXPECT_EQ(cache.find(key), nullptr);
}

TEST(PlanCache, TakesNoMoreMemoryThanItMay) {
  PlanKey key;
  const auto plan = [&key](int root, std::size_t operations) {
    key.root = root;
    Plan made;
    made.key = key;
    made.program.operations.resize(operations);
    return made;
  };
  const std::size_t each = bytes_of(plan(0, 1000));
  EXPECT_GT(each, 1000 * sizeof(Operation));
  PlanCache cache(3 * each);
  for (int root = 0; root < 4; ++root) cache.keep(plan(root, 1000));
  EXPECT_EQ(cache.dropped(), 1U);
  // One that is larger than all that may be kept is there alone.
  EXPECT_EQ(cache.keep(plan(9, 5000)).key.root, 9);
  EXPECT_EQ(cache.dropped(), 4U);
  key.root = 9;
  EXPECT_NE(cache.find(key), nullptr);
}

}  // namespace
}  // namespace tutti
