/// Lower bounds with arrivals: numbers, and that nothing is faster.
#include <gtest/gtest.h>

#include <random>

#include "cost/bounds.hpp"
#include "cost/engine.hpp"
#include "cost/simulate.hpp"
#include "sweep/sweep.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

// p = 8, alpha = 2, beta = 1, m = 4; rank 3 is 30 late.
const std::vector<Bytes> eight(8, 4);
const std::vector<double> one_late = {0, 0, 0, 30, 0, 0, 0, 0};

double bound_of(Collective collective, Runner receiver = Runner::caller) {
  return lower_bound({collective, 0, eight, 0, one_late}, {2, 1}, receiver);
}

TEST(CollectiveBound, OfOneLateRank) {
  EXPECT_EQ(bound_of(Collective::bcast), 36);  // D + alpha + m beta
  EXPECT_EQ(bound_of(Collective::bcast, Runner::background), 30);
  EXPECT_EQ(bound_of(Collective::allgather), 60);                      // D + alpha + 7 m beta
  EXPECT_EQ(bound_of(Collective::allgather, Runner::background), 36);  // D + 3 alpha, + m beta
  EXPECT_EQ(bound_of(Collective::alltoall), 60);                       // D + alpha + 7 m beta
  EXPECT_EQ(bound_of(Collective::alltoall, Runner::background), 60);   // it sends as much
  EXPECT_EQ(bound_of(Collective::reduce), 36);                         // D + alpha + m beta
  EXPECT_EQ(bound_of(Collective::reduce_scatter), 60);                 // sends 7 m
  EXPECT_EQ(bound_of(Collective::reduce_scatter, Runner::background), 60);
  EXPECT_EQ(bound_of(Collective::allreduce), 36);  // D + 3 alpha, + m beta
  EXPECT_EQ(bound_of(Collective::barrier), 36);    // D + 3 alpha
}

TEST(CollectiveBound, OfRanksThatArriveTogether) {
  const std::vector<Bytes> large(8, 80);
  const auto bound = [&](Collective collective) {
    return lower_bound({collective, 0, large}, {2, 1});
  };
  EXPECT_EQ(bound(Collective::bcast), 82);
  EXPECT_EQ(bound(Collective::allgather), 2 + 7 * 80);
  EXPECT_EQ(bound(Collective::allreduce), 2 + 2 * 7 * 80 / 8);
  EXPECT_EQ(bound(Collective::reduce), 82);
}

TEST(CollectiveBound, IsTheLastArrivalWithoutDataOrOthers) {
  const std::vector<Bytes> nothing(8, 0);
  const std::vector<Bytes> alone = {4};
  for (const Collective collective : all_collectives) {
    if (collective == Collective::barrier) continue;
    EXPECT_EQ(lower_bound({collective, 0, nothing, 0, one_late}, {2, 1}), 30)
        << name_of(collective);
    EXPECT_EQ(lower_bound({collective, 0, alone}, {2, 1}), 0) << name_of(collective);
  }
}

TEST(CollectiveBound, NoAlgorithmIsFaster) {
  std::mt19937_64 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const Algorithm& algorithm : all_algorithms()) {
    for (int i = 0; i < 150; ++i) {
      Specification spec = *specification(algorithm.collective, algorithm.name);
      if (algorithm.takes("order") && below(2) == 0) spec.order = OrderName::arrival;
      if (algorithm.takes("runner") && below(2) == 0) spec.runner = Runner::background;
      const int p = 1 + below(12);
      Call call{algorithm.collective, has_root(algorithm.collective) ? below(p) : 0, {}, 0};
      const Bytes equal = below(30);
      const double late = below(3) * 20;
      for (int rank = 0; rank < p; ++rank) {
        const bool differs = is_irregular(algorithm.collective) && below(3) > 0;
        call.sizes.push_back(differs ? below(30) : equal);
        call.arrivals.push_back(below(2) == 0 ? 0 : late + below(5));
      }
      if (block_kind(algorithm.collective) == BlockKind::none) {
        std::fill(call.sizes.begin(), call.sizes.end(), 0);
      }
      const Machine machine{static_cast<double>(below(6)), 1};
      double last = *std::max_element(call.arrivals.begin(), call.arrivals.end());
      const auto done = [&](Rank, double now) { last = std::max(last, now); };
      const EngineModel model{
          .service = EngineModel::Service::greedy, .machine = machine, .two_ports = true};
      const auto error =
          execute(Problems(spec, call).schedules(), model, call.arrivals, {nullptr, done});
      ASSERT_FALSE(error) << error->text;
      EXPECT_GE(last, lower_bound(call, machine, spec.runner))
          << name_of(algorithm.collective) << " " << to_text(spec) << " p " << p << " case " << i;
    }
  }
}

// algorithms.md's rule: no broadcast of whole vectors to ranks that receive when they are there is
// over earlier than the one that follows the arrivals.
TEST(Earliest, MeetsTheBoundOfWholeVectors) {
  std::mt19937_64 random(1);
  int meets = 0;
  constexpr int cases = 2000;
  for (int i = 0; i < cases; ++i) {
    const int p = 1 + static_cast<int>(random() % 6);
    Call call{Collective::bcast, static_cast<Rank>(random() % static_cast<unsigned>(p)),
              std::vector<Bytes>(static_cast<std::size_t>(p), 8), 2};
    for (int rank = 0; rank < p; ++rank) {
      call.arrivals.push_back(static_cast<double>(random() % 40));
    }
    const auto timeline =
        simulate(testing_support::schedules_of("earliest", call), {2, 1}, call.arrivals);
    const double last = *std::max_element(timeline->exits.begin(), timeline->exits.end());
    // Trees that neither cut the vector nor forward it before they have it whole: a round takes
    // 2 + 8.
    const double bound = lower_bound(call, {2 + 8, 0});
    EXPECT_GE(last, bound);
    meets += last == bound ? 1 : 0;
  }
  EXPECT_EQ(meets, cases);
}

// One rank late by D = 1000, p = 16, alpha = 1, m beta = 10: what is left after its arrival.
TEST(Background, LeavesOfAnAllgatherWhatTheLateRankBrings) {
  Call call{Collective::allgather, 0, std::vector<Bytes>(16, 10), 0};
  call.arrivals.assign(16, 0);
  call.arrivals[5] = 1000;
  const auto after = [&](const char* algorithm) {
    const auto timeline =
        simulate(testing_support::schedules_of(algorithm, call), {1, 1}, call.arrivals);
    return timeline->run_time() - 1000;
  };
  EXPECT_EQ(after("BDR"), 15 * 11);                          // its block goes around
  EXPECT_EQ(after("broadcasts:runner=background"), 4 * 11);  // its block goes down a tree
  EXPECT_EQ(after("linear:runner=background"), 15 * 11);     // it sends to all itself
  EXPECT_EQ(lower_bound(call, {1, 1}, Runner::background), 1011);
}

}  // namespace
}  // namespace tutti
