/// Prices of schedules that can be computed by hand.
#include <gtest/gtest.h>

#include <random>

#include "cost/simulate.hpp"
#include "select/tuning_candidates.hpp"
#include "unit/call_helpers.hpp"

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

TEST(Price, OfStartUpsThatOverlapIsOneLatency) {
  // Each keeps the root for 3 + 1/2; the fifth starts after four of them and takes 10 + 1/2.
  const auto linear = schedules_of("linear", equal(Collective::scatter, 6, 1));
  EXPECT_DOUBLE_EQ(*price(linear, machine, PriceModel::overlapped), 24.5);
  // Of what is done in sequence nothing overlaps.
  const auto sequence = schedules_of("linear_sequence", equal(Collective::scatter, 6, 1));
  EXPECT_DOUBLE_EQ(*price(sequence, machine, PriceModel::overlapped),
                   *price(sequence, machine, PriceModel::hockney));
}

TEST(Price, OfSignalsIsNoneOfTheBlocksTime) {
  // Both ask at 0 and are heard at 10, block 1 is sent from 10 on, block 2 from 15 on.
  const auto pull = schedules_of("linear_pull", equal(Collective::scatter, 3, 4));
  EXPECT_DOUBLE_EQ(*price(pull, machine, PriceModel::overlapped), 15 + 12);
  EXPECT_DOUBLE_EQ(*price(pull, machine, PriceModel::hockney), 10 + 10 + 12 + 12);
  // A rank that comes at 12 is heard at 22, whatever is on the way to others.
  EXPECT_DOUBLE_EQ(*price(pull, machine, PriceModel::overlapped, std::vector{0., 0., 12.}),
                   22 + 12);
  // Of signals that come while block 1 is sent, from 40 on, block 2 waits for the overhead of each.
  const auto three = schedules_of("linear_pull", equal(Collective::scatter, 4, 100));
  EXPECT_DOUBLE_EQ(*price(three, machine, PriceModel::overlapped, std::vector{0., 30., 41., 42.}),
                   40 + (3 + 50) + 3 + 3 + (3 + 50) + (10 + 50));
}

TEST(Price, OfABinomialGatherIsTheDepthOfTheTree) {
  // p = 4: 3 > 2 is over at 10; 2 sends at 10, and the root has it at 20.
  EXPECT_DOUBLE_EQ(
      *price(schedules_of("binomial", equal(Collective::gather, 4, 1)), machine, PriceModel::logp),
      20);
}

TEST(Price, OfReceivesIsNoneWhereTheyFitInTheGapsOfSends) {
  // Each rank sends at 0, 4 and 8, and receives what arrives at 2, 6 and 10 in between.
  const Machine gaps = {3, 0, 1, 4};
  const auto schedules = schedules_of("linear", equal(Collective::allgather, 4, 1));
  EXPECT_DOUBLE_EQ(*price(schedules, gaps, PriceModel::logp), 11);
}

TEST(Price, OfNothingIsNothing) {
  EXPECT_DOUBLE_EQ(
      *price(schedules_of("binomial", equal(Collective::gather, 8, 0)), machine, PriceModel::loggp),
      0);
}

TEST(Price, OfADeadlockIsAnError) {
  auto schedules = schedules_of("linear", equal(Collective::gather, 2, 1));
  for (const Rank rank : {0, 1}) {  // each rank receives before it sends
    const Rank other = 1 - rank;
    auto& steps = schedules[static_cast<std::size_t>(rank)].steps;
    steps.insert(steps.begin(), {{.kind = StepKind::recv, .peer = other},
                                 {.kind = StepKind::wait, .last = 1},
                                 {.kind = StepKind::send, .peer = other}});
  }
  EXPECT_EQ(price(schedules, machine, PriceModel::hockney).error(),
            "rank 0, step 0 (recv from 1): deadlock: it waits for rank 1's step 2 (send to 0), "
            "which waits for rank 1's step 0 (recv from 0), which waits for rank 0's step 2 (send "
            "to 1), which waits for it");
}

TEST(Price, CountsArrivalsAsTheReplayDoes) {
  const Machine slow = {7, 1, 1, 1};
  std::mt19937_64 random(1);
  for (const char* name : {"linear", "linear_sequence", "binomial:order=arrival", "SLIN", "BSLN"}) {
    for (const Collective collective : {Collective::gather, Collective::scatter}) {
      for (const int p : {1, 2, 11, 32}) {
        const auto ranks = static_cast<std::size_t>(p);
        Call call{collective, p / 2, std::vector<Bytes>(ranks, 3), 0,
                  std::vector<double>(ranks, 0)};
        for (double& arrival : call.arrivals) arrival = static_cast<double>(random() % 100);
        call.arrivals[0] = 0;  // the replay counts from the first arrival
        const auto schedules = testing_support::schedules_of(name, call);
        EXPECT_DOUBLE_EQ(*price(schedules, slow, PriceModel::hockney, call.arrivals),
                         simulate(schedules, slow, call.arrivals)->run_time())
            << name << " p " << p;
      }
    }
  }
  const std::vector<Schedule> one = {{Collective::gather, 1, 0, 0, {}}};
  EXPECT_EQ(*price(one, slow, PriceModel::loggp, std::vector{5.}), 5);
  EXPECT_EQ(price(one, slow, PriceModel::logp, std::vector{5., 6.}).error(),
            "2 arrivals for 1 ranks");
}

TEST(Price, OfLongPipelinesIsExtrapolated) {
  // 300 ranks and 500 parts: more messages than are priced one by one.
  const auto ratio = [](Collective collective, const char* name) {
    const Call call = equal(collective, 300, 1 << 20);
    const Specification pipeline = *specification(collective, name);
    Features features;
    features.collective = collective;
    features.p = call.p();
    features.block = call.sizes[0];
    return modelled_seconds(pipeline, features, Machine()) /
           *price(Problems(pipeline, call).schedules(), Machine(), PriceModel::loggp);
  };
  for (const Collective collective : {Collective::bcast, Collective::scan, Collective::rma_bcast}) {
    EXPECT_NEAR(ratio(collective, "chain:parts=500"), 1, 0.01) << name_of(collective);
  }
  EXPECT_NEAR(ratio(Collective::bcast, "circulant:parts=500"), 1, 0.15);
}

}  // namespace
}  // namespace tutti
