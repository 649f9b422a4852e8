/// Prices of schedules that can be computed by hand.
#include "cost/pricing.hpp"

#include <gtest/gtest.h>

#include "call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;

// L = 10 - 2 * 2 = 6, o = 2, g = 3, G = 0.5.
constexpr Machine machine = {10, 0.5, 2, 3};

Call equal(Collective collective, int p, Bytes bytes) {
  return {collective, 0, std::vector<Bytes>(static_cast<std::size_t>(p), bytes), 0};
}

TEST(Price, OfOneMessage) {
  const auto schedules = schedules_of("linear", equal(Collective::gather, 2, 9));
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::hockney), 14.5);  // 10 + 9 / 2
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::logp), 10);       // o + L + o
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::loggp), 14);      // and (9 - 1) G
}

TEST(Price, OfALinearScatterIsOneGapAMessage) {
  const auto schedules = schedules_of("linear", equal(Collective::scatter, 6, 1));
  // The fifth message starts after 4 gaps of 3 and takes 10.
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::logp), 22);
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::hockney), 52.5);  // 5 (10 + 1/2)
}

TEST(Price, OfALinearGatherIsOneGapAMessage) {
  // All messages are there at o + L = 8; the fifth receive starts 4 gaps later and takes 2.
  const auto schedules = schedules_of("linear", equal(Collective::gather, 6, 1));
  EXPECT_DOUBLE_EQ(*price(schedules, machine, PriceModel::logp), 22);
  // With 5 bytes each message is there at 10 and keeps the link for 2 more: 10 + 4 * 5 + 2.
  const auto longer = schedules_of("linear", equal(Collective::gather, 6, 5));
  EXPECT_DOUBLE_EQ(*price(longer, machine, PriceModel::loggp), 32);
}

TEST(Price, OfABinomialGatherIsTheDepthOfTheTree) {
  // p = 4: 3 > 2 is over at 10; 2 sends at 10, and the root has it at 20.
  EXPECT_DOUBLE_EQ(
      *price(schedules_of("binomial", equal(Collective::gather, 4, 1)), machine, PriceModel::logp),
      20);
}

TEST(Price, OfNothingIsNothing) {
  EXPECT_DOUBLE_EQ(
      *price(schedules_of("binomial", equal(Collective::gather, 8, 0)), machine, PriceModel::loggp),
      0);
}

TEST(Price, OfADeadlockIsAnError) {
  auto schedules = schedules_of("linear", equal(Collective::gather, 2, 1));
  Step wait;
  wait.kind = StepKind::wait;
  wait.last = 2;
  schedules[1].steps.insert(schedules[1].steps.begin(), wait);
  EXPECT_EQ(price(schedules, machine, PriceModel::hockney).error(),
            "rank 0, step 0 (recv from 1) never completes: the schedules deadlock");
}

}  // namespace
}  // namespace tutti
