/// The worked numbers of Proficz 2020, and what the replay promises beyond them.
#include "simulate/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "call_helpers.hpp"
#include "core/distributions.hpp"
#include "cost/pricing.hpp"
#include "orders/orders.hpp"
#include "passes/background.hpp"
#include "sweep/simulated.hpp"
#include "sweep/sweep.hpp"

namespace tutti {
namespace {

using testing_support::schedules_in_order;
using testing_support::schedules_of;

// P = 8, m = 1, alpha = 2, beta = 1: a block is two bytes of half a unit each, so that
// linear_sync has two segments of one byte.
constexpr int p = 8;
constexpr Network network = {2, 0.5};

/// Positions below the root, early to late receivers of a binomial scatter: large subtrees first.
const std::vector<Position> large_subtrees_first = {4, 2, 6, 1, 3, 5, 7};
const std::vector<Position> small_subtrees_first = {7, 5, 3, 1, 6, 2, 4};
const std::vector<Position> as_they_come = {1, 2, 3, 4, 5, 6, 7};

struct Case {
  const char* name;
  Collective collective;
  const char* algorithm;
  const std::vector<Position>* sorted;  ///< by arrival, into this sequence; null: not sorted
  bool background;
  Rank late;
  double delay;
  double run_time;

  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << c.name << ", rank " << c.late << " late by " << c.delay;
  }
};

Timeline replay(const Case& c) {
  std::vector<double> arrivals(p, 0);
  arrivals[static_cast<std::size_t>(c.late)] = c.delay;
  const Order order =
      c.sorted != nullptr ? by_arrival(arrivals, 0, *c.sorted) : Order::natural(p, 0);
  auto schedules =
      schedules_in_order(c.algorithm, {c.collective, 0, std::vector<Bytes>(p, 2), 0}, order);
  if (c.background) {
    std::transform(schedules.begin(), schedules.end(), schedules.begin(), in_background);
  }
  return *simulate(schedules, network, arrivals);
}

class Proficz : public testing::TestWithParam<Case> {};

TEST_P(Proficz, RunTime) { EXPECT_DOUBLE_EQ(replay(GetParam()).run_time(), GetParam().run_time); }

constexpr Collective scatter = Collective::scatter;
constexpr Collective gather = Collective::gather;
constexpr const char* lin = "linear_sequence";
constexpr const char* ls = "linear_sync:segment=1";
constexpr const char* bn = "binomial";

// Flat run times: LIN 7 (2 + 1) = 21; LS 7 (3 * 2 + 1) = 49; BN 3 * 2 + 7 * 1 = 13.
INSTANTIATE_TEST_SUITE_P(Flat, Proficz,
                         testing::Values(Case{"LIN scatter", scatter, lin, nullptr, false, 1, 0,
                                              21},
                                         Case{"LIN gather", gather, lin, nullptr, false, 1, 0, 21},
                                         Case{"LS", gather, ls, nullptr, false, 1, 0, 49},
                                         Case{"BN scatter", scatter, bn, nullptr, false, 1, 0, 13},
                                         Case{"BN gather", gather, bn, nullptr, false, 1, 0, 13}));

// One late rank, D = 30. For the binomial shapes it is virtual rank P/2, at the head of the
// largest subtree: the paper's (13) holds for no other (see the two cases at the end).
INSTANTIATE_TEST_SUITE_P(
    FirstReceiverLate, Proficz,
    testing::Values(
        Case{"LIN", scatter, lin, nullptr, false, 1, 30, 51},         // D + 21: all wait for it
        Case{"SLIN", scatter, lin, &as_they_come, false, 1, 30, 33},  // max(D + 3, 21)
        Case{"BSLN", scatter, lin, &as_they_come, true, 1, 30, 30},   // max(D, 21)
        Case{"BN scatter", scatter, bn, nullptr, false, 4, 30, 43},   // D + 13
        Case{"SBN scatter", scatter, bn, &large_subtrees_first, false, 4, 30, 33},  // D + 3
        Case{"BSBN scatter", scatter, bn, &large_subtrees_first, true, 4, 30, 30},  // max(D, 13)
        Case{"LS", gather, ls, nullptr, false, 1, 30, 79},                          // D + 49
        Case{"SLS", gather, ls, &as_they_come, false, 1, 30, 49},                 // max(D + 7, 49)
        Case{"BSLS", gather, ls, &as_they_come, true, 1, 30, 49},                 // the same
        Case{"BSLS", gather, ls, &as_they_come, true, 1, 60, 67},                 // D + 3 * 2 + 1
        Case{"BN gather", gather, bn, nullptr, false, 4, 30, 43},                 // D + 13
        Case{"SBN gather", gather, bn, &small_subtrees_first, false, 4, 30, 43},  // D + 13
        // The paper's (22) has (P - 1) N / (2P) beta = 3.5 for the last term. The late rank
        // forwards P/2 blocks, its own among them: D + alpha + N/2 beta = 30 + 2 + 4.
        Case{"BSBN gather", gather, bn, &small_subtrees_first, true, 4, 30, 36},
        Case{"BN scatter, a leaf", scatter, bn, nullptr, false, 1, 30, 33},  // D + 3
        Case{"BN gather, a leaf", gather, bn, nullptr, false, 1, 30, 33}));  // D + 3

// The root late, D = 30: only what it need not take part in, or its thread does, goes on.
INSTANTIATE_TEST_SUITE_P(
    RootLate, Proficz,
    testing::Values(Case{"LIN scatter", scatter, lin, nullptr, false, 0, 30, 51},
                    Case{"SLIN scatter", scatter, lin, &as_they_come, false, 0, 30, 51},
                    Case{"BSLN scatter", scatter, lin, &as_they_come, true, 0, 30, 51},
                    Case{"BN scatter", scatter, bn, nullptr, false, 0, 30, 43},
                    Case{"BSBN scatter", scatter, bn, &large_subtrees_first, true, 0, 30, 43},
                    Case{"SLS", gather, ls, &as_they_come, false, 0, 30, 79},
                    Case{"BSLS", gather, ls, &as_they_come, true, 0, 30, 49},  // max(D, 49)
                    Case{"SBN gather", gather, bn, &small_subtrees_first, false, 0, 30, 43},
                    Case{"BSBN gather", gather, bn, &small_subtrees_first, true, 0, 30, 30}));

TEST(Proficz, ElapsedTimesOfTheFlatCases) {
  const auto elapsed = [](const char* algorithm, Collective collective) {
    return replay({"", collective, algorithm, nullptr, false, 1, 0, 0}).elapsed();
  };
  EXPECT_DOUBLE_EQ(elapsed(lin, scatter), 13.125);  // (P + 2)(P - 1) 3 / 2P = 210 / 16
  EXPECT_DOUBLE_EQ(elapsed(lin, gather), 13.125);
  EXPECT_DOUBLE_EQ(elapsed(ls, gather), 30.625);  // (P + 2)(P - 1) 7 / 2P = 490 / 16
  EXPECT_DOUBLE_EQ(elapsed(bn, scatter), 13);     // no rank is over before the last
  EXPECT_DOUBLE_EQ(elapsed(bn, gather), 6.5);     // (2 * 7 * 2 + 3 * 8) / 8
}

TEST(Replay, MeetsTheClosedFormsForPowersOfTwo) {
  const Machine machine = {3, 0.25, 0.1, 0.2};
  for (const int ranks : {2, 4, 16, 64, 256}) {
    const auto expect = [&](const char* algorithm, Collective collective, const Times& times) {
      const Call call{collective, 0, std::vector<Bytes>(static_cast<std::size_t>(ranks), 8), 0};
      const Timeline timeline = *simulate(schedules_of(algorithm, call), Network::of(machine));
      EXPECT_DOUBLE_EQ(timeline.run_time(), times.run) << algorithm << " p " << ranks;
      EXPECT_DOUBLE_EQ(timeline.elapsed(), times.elapsed) << algorithm << " p " << ranks;
    };
    expect("linear", gather, linear_times(ranks, 8, machine));
    expect("linear_sequence", scatter, linear_times(ranks, 8, machine));
    expect("linear_sync:segment=4", gather, linear_sync_times(ranks, 8, machine));
    expect("binomial", scatter, binomial_scatter_times(ranks, 8, machine));
    expect("binomial", gather, binomial_gather_times(ranks, 8, machine));
  }
}

TEST(Replay, AgreesWithTheHockneyPriceOnTreesAndLinearShapes) {
  const Machine machine = {7, 1, 1, 1};
  std::mt19937_64 random(1);
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.name == "linear_sync") continue;  // its two transfers at once may change places
    for (int ranks : {2, 5, 11, 32, 100}) {
      std::vector<Bytes> sizes(static_cast<std::size_t>(ranks), 3);
      if (is_irregular(algorithm.collective)) {
        for (Bytes& bytes : sizes) bytes = static_cast<Bytes>(random() % 40);
      }
      const Call call{algorithm.collective, ranks / 2, sizes, 7};
      const auto schedules = schedules_of(algorithm.name, call);
      EXPECT_DOUBLE_EQ(simulate(schedules, Network::of(machine))->run_time(),
                       *price(schedules, machine, PriceModel::hockney))
          << algorithm.name << " p " << ranks;
    }
  }
}

TEST(Replay, TakesNoLongerThanThePaperModelsForTheOrderedTree) {
  // Lemmas 1 and 2 give an upper bound: a rank serves its children as they become ready.
  for (const Distribution distribution : all_distributions) {
    const Call call{Collective::gatherv, 280, distribute(distribution, 560, 100), 0};
    const Problems problems(*specification(call.collective, "ordered_tree:promote=off"), call);
    const Timeline timeline = *simulate(problems.schedules(), {0, 1});
    EXPECT_LE(timeline.run_time(), static_cast<double>(problems.tree()->lemma_time()))
        << name_of(distribution);
  }
}

TEST(Replay, FullDuplexSendsAndReceivesAtOnce) {
  // Rank 1 receives 10 bytes from 0 and sends 10 others to 2: one after the other, or at once.
  const auto schedule = [](Rank rank, std::vector<Step> steps) {
    return Schedule{Collective::gatherv, 3, rank, 2, std::move(steps)};
  };
  const auto message = [](StepKind kind, Rank peer, Position block) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.blocks = BlockRange{block, block + 1};
    step.bytes = 10;
    return step;
  };
  const std::vector<Schedule> schedules = {
      schedule(0, {message(StepKind::send, 1, 0)}),
      schedule(1, {message(StepKind::recv, 0, 0), message(StepKind::send, 2, 1)}),
      schedule(2, {message(StepKind::recv, 1, 1)})};
  EXPECT_DOUBLE_EQ(simulate(schedules, {0, 1, 1, false})->run_time(), 20);
  EXPECT_DOUBLE_EQ(simulate(schedules, {0, 1, 1, true})->run_time(), 10);
  EXPECT_DOUBLE_EQ(simulate(schedules, {0, 1, 2, false})->run_time(), 10);
}

TEST(Replay, LetsAMessagePassOneWhoseOtherEndIsTaken) {
  // 0 sends to 4 until 5 and 2 to 1 until 10. At 5 the message from 0 to 1 cannot start, though
  // it comes first in 0's schedule; that from 0 to 3 can.
  std::vector<Schedule> schedules;
  for (const char* text :
       {"scatterv p 5 rank 0 root 0\n0 send 4 [4,5) 5\n1 send 1 [1,2) 1\n2 send 3 [3,4) 1\n",
        "scatterv p 5 rank 1 root 0\n0 recv 2 [2,3) 10\n1 recv 0 [1,2) 1\n",
        "scatterv p 5 rank 2 root 0\n0 send 1 [2,3) 10\n",
        "scatterv p 5 rank 3 root 0\n0 recv 0 [3,4) 1\n",
        "scatterv p 5 rank 4 root 0\n0 recv 0 [4,5) 5\n"}) {
    schedules.push_back(*from_text(text));
  }
  const Timeline timeline = *simulate(schedules, {0, 1});
  EXPECT_EQ(timeline.exits, (std::vector<double>{11, 11, 10, 6, 5}));
}

TEST(Replay, TellsWhenTheRootIdles) {
  // p = 4 binomial, alpha 0, one unit a block: the root takes 1 at 0..1, then 2's two at 1..3.
  const Call call{gather, 0, {1, 1, 1, 1}, 0};
  const Timeline flat = *simulate(schedules_of("binomial", call), {0, 1});
  EXPECT_DOUBLE_EQ(flat.idle(0), 0);
  // Rank 3 comes at 5: 2 has its block at 6 and the root both at 8. It is busy for 3 of 8 units.
  const Timeline late =
      *simulate(schedules_of("binomial", call), {0, 1}, std::vector{0., 0., 0., 5.});
  EXPECT_DOUBLE_EQ(late.run_time(), 8);
  EXPECT_DOUBLE_EQ(late.idle(0), 5);
  EXPECT_DOUBLE_EQ(late.spread(), 5);
}

TEST(Replay, HandlesThousandsOfRanksInAMoment) {
  const auto sizes = distribute(Distribution::random, 6400, 100);
  const auto begin = std::chrono::steady_clock::now();
  for (const char* algorithm : {"linear", "linear_sequence", "binomial", "ordered_tree"}) {
    const auto specification = testing_support::spec_of(Collective::gatherv, algorithm);
    const double seconds =
        simulated_seconds(specification, {Collective::gatherv, 3200, sizes, 0}, {}).total();
    EXPECT_GT(seconds, 0) << algorithm;
  }
  // Some 0.1 s on a machine of 2020; quadratic time would be a hundred times that.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(KnowledgeRounds, FollowTheProtocols) {
  const auto rounds = [](const char* text, Collective collective) {
    return knowledge_rounds(testing_support::spec_of(collective, text), 11);
  };
  EXPECT_EQ(rounds("linear", Collective::gatherv), 0);
  EXPECT_EQ(rounds("binomial", Collective::gather), 0);
  EXPECT_EQ(rounds("binomial", Collective::gatherv), 4);
  EXPECT_EQ(rounds("TUW", Collective::gatherv), 7);            // 2 * 4 - 1
  EXPECT_EQ(rounds("ordered_tree", Collective::gatherv), 11);  // and verdicts down 4 levels
  EXPECT_EQ(rounds("ordered_tree", Collective::gather), 0);    // the regular case
}

}  // namespace
}  // namespace tutti
