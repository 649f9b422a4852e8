/// What the replay promises.
#include "cost/simulate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <random>

#include "core/distributions.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;

constexpr Collective scatter = Collective::scatter;
constexpr Collective gather = Collective::gather;

// The closed forms under Hockney for p ranks with blocks of m bytes that arrive together (Proficz
// 2020, section 3): the last exit and the mean exit.
struct Exits {
  double last;
  double mean;
};

/// linear, linear_sequence: (p - 1)(alpha + m beta). linear_sync with a block of two segments pays
/// three start-ups.
Exits linear_exits(int p, double start_ups, double block, const Machine& machine) {
  const double message = start_ups * machine.latency + block * machine.per_byte;
  return {(p - 1) * message, (p + 2) * (p - 1) * message / (2 * p)};
}

/// binomial, p a power of two: log2 p alpha + (p - 1) m beta; in a scatter also the mean.
Exits binomial_exits(int p, double block, const Machine& machine, bool gathers) {
  const double rounds = std::bit_width(static_cast<unsigned>(p - 1));
  const double last = rounds * machine.latency + (p - 1) * machine.per_byte * block;
  const double mean = (2 * (p - 1) * machine.latency + rounds * machine.per_byte * block * p) / p;
  return {last, gathers ? mean : last};
}

TEST(Replay, MeetsTheClosedFormsForPowersOfTwo) {
  const Machine machine = {3, 0.25, 0.1, 0.2};
  for (const int ranks : {2, 4, 16, 64, 256}) {
    const auto expect = [&](const char* algorithm, Collective collective, const Exits& exits) {
      const Call call{collective, 0, std::vector<Bytes>(static_cast<std::size_t>(ranks), 8), 0};
      const Timeline timeline = *simulate(schedules_of(algorithm, call), machine);
      EXPECT_DOUBLE_EQ(timeline.run_time(), exits.last) << algorithm << " p " << ranks;
      EXPECT_DOUBLE_EQ(timeline.elapsed(), exits.mean) << algorithm << " p " << ranks;
    };
    expect("linear", gather, linear_exits(ranks, 1, 8, machine));
    expect("linear_sequence", scatter, linear_exits(ranks, 1, 8, machine));
    expect("linear_sync:segment=4", gather, linear_exits(ranks, 3, 8, machine));
    expect("binomial", scatter, binomial_exits(ranks, 8, machine, false));
    expect("binomial", gather, binomial_exits(ranks, 8, machine, true));
  }
}

TEST(Replay, AgreesWithTheHockneyPriceOnTreesAndLinearShapes) {
  const Machine machine = {7, 1, 1, 1};
  std::mt19937_64 random(1);
  for (const Algorithm& algorithm : all_algorithms()) {
    // Where ranks send and receive in turn, a rank's port may serve them in another sequence.
    if (!is_gather_or_scatter(algorithm.collective)) continue;
    if (algorithm.name == "linear_sync") continue;  // its two transfers at once may change places
    for (int ranks : {2, 5, 11, 32, 100}) {
      std::vector<Bytes> sizes(static_cast<std::size_t>(ranks), 3);
      if (is_irregular(algorithm.collective)) {
        for (Bytes& bytes : sizes) bytes = static_cast<Bytes>(random() % 40);
      }
      const Call call{algorithm.collective, ranks / 2, sizes, 7};
      const auto schedules = schedules_of(algorithm.name, call);
      EXPECT_DOUBLE_EQ(simulate(schedules, machine)->run_time(),
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

TEST(Replay, SendsAndReceivesAtOnceWithTwoPorts) {
  // Rank 1 receives 10 bytes from 0 and sends 10 others to 2: one after the other, or at once.
  const auto message = [](StepKind kind, Rank peer, Position block) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.blocks = BlockRange{block, block + 1};
    step.bytes = 10;
    return step;
  };
  const auto seconds = [&](Collective collective) {
    const std::vector<Schedule> schedules = {
        {collective, 3, 0, 2, {message(StepKind::send, 1, 0)}},
        {collective, 3, 1, 2, {message(StepKind::recv, 0, 0), message(StepKind::send, 2, 1)}},
        {collective, 3, 2, 2, {message(StepKind::recv, 1, 1)}}};
    return simulate(schedules, {0, 1})->run_time();
  };
  EXPECT_DOUBLE_EQ(seconds(Collective::gatherv), 20);
  EXPECT_DOUBLE_EQ(seconds(Collective::allgatherv), 10);
}

TEST(Replay, LetsAMessagePassOneWhoseOtherEndIsTaken) {
  // 0 sends to 4 until 5 and 2 to 1 until 10. At 5 the message from 0 to 1 cannot start, though
  // it comes first in 0's schedule; that from 0 to 3 can.
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < 5; ++rank) schedules.push_back({Collective::scatterv, 5, rank, 0, {}});
  const auto add = [&](Rank from, Rank to, Position block, Bytes bytes) {
    Step step;
    step.blocks = BlockRange{block, block + 1};
    step.bytes = bytes;
    step.peer = to;
    schedules[static_cast<std::size_t>(from)].steps.push_back(step);
    step.kind = StepKind::recv;
    step.peer = from;
    schedules[static_cast<std::size_t>(to)].steps.push_back(step);
  };
  add(0, 4, 4, 5);
  add(2, 1, 2, 10);
  add(0, 1, 1, 1);
  add(0, 3, 3, 1);
  const Timeline timeline = *simulate(schedules, {0, 1});
  EXPECT_EQ(timeline.exits, (std::vector<double>{11, 11, 10, 6, 5}));
}

TEST(Replay, TellsWhenTheRootIdles) {
  // p = 4 binomial, alpha 0, one unit a block: the root takes 1 at 0..1, then 2's two at 1..3.
  const Call call{gather, 0, {1, 1, 1, 1}, 0};
  const Timeline flat = *simulate(schedules_of("binomial", call), {0, 1});
  EXPECT_DOUBLE_EQ(flat.exits[0], flat.busy[0]);
  // Rank 3 comes at 5: 2 has its block at 6 and the root both at 8. It is busy for 3 of 8 units.
  const Timeline late =
      *simulate(schedules_of("binomial", call), {0, 1}, std::vector{0., 0., 0., 5.});
  EXPECT_DOUBLE_EQ(late.run_time(), 8);
  EXPECT_DOUBLE_EQ(late.exits[0] - late.busy[0], 5);
  EXPECT_DOUBLE_EQ(late.spread(), 5);
}

TEST(Replay, HandlesThousandsOfRanksInAMoment) {
  const auto sizes = distribute(Distribution::random, 6400, 100);
  const std::clock_t begin = std::clock();
  for (const char* algorithm : {"linear", "linear_sequence", "binomial", "ordered_tree"}) {
    const auto specification = testing_support::spec_of(Collective::gatherv, algorithm);
    const Problems problems(specification, {Collective::gatherv, 3200, sizes, 0});
    EXPECT_GT(simulate(problems.schedules(), {})->run_time(), 0) << algorithm;
  }
  // Some 0.1 s of a processor of 2020, whatever else runs; quadratic time would be a hundred times
  // that.
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace tutti
