#include "select/exploration_budget.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace tutti {
namespace {

constexpr SizeClass small_class = 3;
constexpr SizeClass large_class = 20;

/// A call of 1,000 ns of which ranks wait 600 for the last one.
WindowCall call_of(SizeClass size_class) { return {size_class, 1000, false, 0, {400, 1000, 1000}}; }

/// Windows of 8 calls, half of either class.
void spend(ExplorationBudget& budget, int windows) {
  std::array<WindowCall, 8> calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i] = call_of(i % 2 == 0 ? small_class : large_class);
  }
  for (int i = 0; i < windows; ++i) budget.add_time(calls, 0);
}

TEST(ExplorationBudget, IsAFractionOfTheTimeSpentAndWhatExploringGained) {
  ExplorationBudget budget(0.01);
  spend(budget, 10);
  EXPECT_EQ(budget.spent(), 80'000);
  EXPECT_DOUBLE_EQ(budget.spare(), 800);
  budget.add_loss(large_class, {700, 700}, true);
  EXPECT_DOUBLE_EQ(budget.spare(), 100);
  budget.add_loss(large_class, {-50, -50}, true);
  EXPECT_DOUBLE_EQ(budget.spare(), 150);
  EXPECT_EQ(budget.lost(), 700);
}

TEST(ExplorationBudget, CountsCallsThatNobodyNotedWithTheSmallerMeanAroundThem) {
  ExplorationBudget budget(0.01);
  spend(budget, 1);
  std::array<WindowCall, 8> slow;
  slow.fill({large_class, 3000});
  budget.add_time(slow, 100);
  EXPECT_EQ(budget.spent(), 8'000 + 100 * 1'000 + 8 * 3'000);
}

TEST(ExplorationBudget, LooksAgainSoonWhereNoCallWasNoted) {
  ExplorationBudget budget(0.01);
  std::array<WindowCall, 8> nothing_noted{};
  budget.add_time(nothing_noted, 0);
  budget.add_agreement(40);
  EXPECT_EQ(budget.calls_for(budget.debt()), 64U);
}

TEST(ExplorationBudget, AStallGivesItsClassNoTimeThatWasNotSpent) {
  ExplorationBudget budget(0.01);
  std::array<WindowCall, 8> calls;
  calls.fill(call_of(large_class));
  budget.add_time(calls, 0);
  calls.back().elapsed = calls.back().times.after_last = 1'000'000;
  budget.add_time(calls, 1000);
  EXPECT_LE(budget.left_of(large_class), 0.03 * budget.spent());
}

TEST(ExplorationBudget, ComparesWithTheMpisOwnInAFractionOfTheTimeOfTheClass) {
  ExplorationBudget budget(0.01);
  spend(budget, 100);
  EXPECT_TRUE(budget.may_compare(small_class));
  budget.add_comparison(small_class, 2000);
  EXPECT_FALSE(budget.may_compare(small_class));
  EXPECT_TRUE(budget.may_compare(large_class));
  EXPECT_EQ(budget.lost(), 0);
  spend(budget, 30);
  EXPECT_TRUE(budget.may_compare(small_class));
}

TEST(ExplorationBudget, KeepsTheNextTwoAgreements) {
  ExplorationBudget budget(0.01);
  spend(budget, 100);
  budget.add_agreement(1500);
  EXPECT_DOUBLE_EQ(budget.spare(), 8000 - 1500 - 2 * 1500);
  budget.add_agreement(500);
  EXPECT_DOUBLE_EQ(budget.spare(), 8000 - 2000 - 2 * 500);
  EXPECT_FALSE(budget.is_in_debt());
  budget.add_loss(small_class, {6000, 6000}, true);
  EXPECT_TRUE(budget.is_in_debt());
  EXPECT_DOUBLE_EQ(budget.debt(), 1000);
  EXPECT_EQ(budget.calls_for(budget.debt()), 100U);
}

TEST(ExplorationBudget, LetsAClassLoseFourBudgetsOfItsOwnTime) {
  ExplorationBudget budget(0.01);
  spend(budget, 100);
  EXPECT_DOUBLE_EQ(budget.left_of(small_class), 0.04 * 160'000) << "without waiting for late ranks";
  budget.add_loss(small_class, {0, 7'000}, true);
  EXPECT_LT(budget.left_of(small_class), 0) << "usual calls took longer, if not the mean";
  EXPECT_DOUBLE_EQ(budget.left_of(large_class), 0.04 * 160'000);
  budget.add_loss(small_class, {0, -1'000}, true);
  EXPECT_NEAR(budget.left_of(small_class), 400, 1e-6) << "what its explored calls gain pays too";
  EXPECT_EQ(budget.lost(), 0);
}

TEST(ExplorationBudget, OverdraftIsForgottenOnceTheBudgetHasRecovered) {
  ExplorationBudget budget(0.01);
  spend(budget, 1);
  budget.add_loss(small_class, {2000, 2000}, false);
  budget.add_loss(small_class, {1000, 1000}, false);
  EXPECT_EQ(budget.overdraft(), 3000);
  budget.add_loss(small_class, {500, 500}, true);
  EXPECT_EQ(budget.overdraft(), 3000);
  budget.begin_plan();
  EXPECT_EQ(budget.overdraft(), 3000);
  spend(budget, 50);
  budget.begin_plan();
  EXPECT_EQ(budget.overdraft(), 0);
}

TEST(ExplorationBudget, WhatItCannotAffordIsAwaited) {
  ExplorationBudget budget(0.01);
  spend(budget, 10);
  EXPECT_TRUE(budget.can_afford(500));
  EXPECT_FALSE(budget.can_afford(400));
  EXPECT_EQ(budget.awaited(), 400);
  budget.begin_plan();
  EXPECT_TRUE(budget.can_afford(800));
  EXPECT_EQ(budget.awaited(), 0);
}

TEST(ExplorationBudget, WhatIsPlannedIsNotSpareAndAwaitedBeside) {
  ExplorationBudget budget(0.01);
  spend(budget, 10);
  budget.begin_plan();
  budget.plan(300);
  EXPECT_DOUBLE_EQ(budget.spare(), 500);
  EXPECT_FALSE(budget.can_afford(600));
  EXPECT_EQ(budget.awaited(), 300 + 600);
  budget.await(100);
  EXPECT_EQ(budget.awaited(), 300 + 600) << "the most of what waits";
  budget.begin_plan();
  EXPECT_DOUBLE_EQ(budget.spare(), 800);
}

TEST(ExplorationBudget, CallsThatPayAreCountedUpAndBounded) {
  ExplorationBudget budget(0.01);
  spend(budget, 1);  // 10 ns for each call
  EXPECT_EQ(budget.calls_for(-5), 0U);
  EXPECT_EQ(budget.calls_for(0), 0U);
  EXPECT_EQ(budget.calls_for(1), 1U);
  EXPECT_EQ(budget.calls_for(15), 2U);
  EXPECT_EQ(budget.calls_for(1e30), 1U << 30);
}

}  // namespace
}  // namespace tutti
