/// Lower bounds: worked numbers, and no simulated time below them.
#include "cost/bounds.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

#include "core/distributions.hpp"
#include "cost/simulate.hpp"
#include "lowering/background.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

/// The optimum of linear gathers and scatters, in which each block goes directly between its rank
/// and the root: one machine with release dates, on which any sequence that does not idle is
/// optimal.
double linear_optimum(const Call& call, const Machine& machine, Runner receiver = Runner::caller) {
  const bool background = receiver == Runner::background;
  const auto arrival_of = [&](Rank rank) {
    return call.arrivals.empty() ? 0 : call.arrivals[static_cast<std::size_t>(rank)];
  };
  const double start = arrival_of(call.root);
  std::multimap<double, double, std::greater<>> jobs;  // by release, latest first
  double optimum = start;
  for (Rank rank = 0; rank < call.p(); ++rank) {
    const auto bytes = static_cast<double>(call.sizes[static_cast<std::size_t>(rank)]);
    const double arrival = arrival_of(rank);
    optimum = std::max(optimum, arrival);
    if (rank == call.root || bytes == 0) continue;
    const double release = !background                  ? std::max(arrival, start)
                           : is_gather(call.collective) ? arrival
                                                        : start;
    jobs.emplace(release, machine.latency + machine.per_byte * bytes);
  }
  double work = 0;
  for (const auto& [release, seconds] : jobs)
    optimum = std::max(optimum, release + (work += seconds));
  return optimum;
}

/// A call with root 0.
Call call_of(Collective collective, std::vector<Bytes> sizes, std::vector<double> arrivals = {}) {
  return {.collective = collective, .sizes = std::move(sizes), .arrivals = std::move(arrivals)};
}

TEST(Bound, OfEqualBlocksIsWhatTheBinomialTreeTakes) {
  const std::vector<Bytes> sizes(8, 1);
  const Call gather = call_of(Collective::gather, sizes);
  const Call scatter = call_of(Collective::scatter, sizes);
  // ceil(log2 8) 2 + 7 = 13, as both the gather and the scatter take; G1 gives 2 + 7, G2 6.
  EXPECT_DOUBLE_EQ(lower_bound(gather, {2, 1}), 13);
  EXPECT_DOUBLE_EQ(lower_bound(scatter, {2, 1}), 9);  // max(2 + 7, 6): blocks may be split
  EXPECT_DOUBLE_EQ(linear_optimum(gather, {2, 1}), 21);
  EXPECT_DOUBLE_EQ(linear_optimum(scatter, {2, 1}), 21);
}

TEST(Bound, OfTheDecreasingDistributionIsTheVolume) {
  const auto sizes = distribute(Distribution::decreasing, 560, 100);
  EXPECT_DOUBLE_EQ(lower_bound({Collective::gather, 280, sizes}, {0, 1}), 56299);
}

TEST(Bound, OfTwoBlocks) {
  const auto sizes = distribute(Distribution::two_blocks, 560, 100);
  EXPECT_DOUBLE_EQ(lower_bound({Collective::gather, 280, sizes}, {0, 1}), 200);
}

TEST(Bound, OfAScatterWithRelays) {
  // P = 9, four late at 100, alpha 2, a block 10: of the 5 early ranks' ports each carries
  // 4 * 10 / 5 = 8 of the late blocks after 100, and the last rank needs 100 + 2 + 10 = 112.
  const std::vector<Bytes> sizes(9, 10);
  const std::vector<double> arrivals = {0, 0, 0, 0, 0, 100, 100, 100, 100};
  const Call call = call_of(Collective::scatter, sizes, arrivals);
  EXPECT_DOUBLE_EQ(lower_bound(call, {2, 1}), 112);
  EXPECT_DOUBLE_EQ(linear_optimum(call, {2, 1}), 148);  // 100 + 4 (2 + 10)
  EXPECT_DOUBLE_EQ(lower_bound(call, {2, 1}, Runner::background), 100);
  // max(100, 8 * 12 = 96)
  EXPECT_DOUBLE_EQ(linear_optimum(call, {2, 1}, Runner::background), 100);

  // P = 48, alpha 1, 24 late at 1000: 1264 in the linear class, 1011 with relays.
  const std::vector<Bytes> many(48, 10);
  std::vector<double> half(48, 0);
  std::fill(half.begin() + 24, half.end(), 1000);
  EXPECT_DOUBLE_EQ(linear_optimum(call_of(Collective::scatter, many, half), {1, 1}), 1264);
  EXPECT_DOUBLE_EQ(lower_bound(call_of(Collective::scatter, many, half), {1, 1}), 1011);
  // 36 late: 36 * 10 / 12 = 30 through each early port, 1000 + 1 + 30.
  std::fill(half.begin() + 12, half.end(), 1000);
  EXPECT_DOUBLE_EQ(linear_optimum(call_of(Collective::scatter, many, half), {1, 1}), 1396);
  EXPECT_DOUBLE_EQ(lower_bound(call_of(Collective::scatter, many, half), {1, 1}), 1031);
}

TEST(Bound, OfAGatherAtALateRoot) {
  // Three blocks of 4, the root at 50: the caller must still receive all of them, the thread none.
  const std::vector<Bytes> sizes(4, 4);
  const std::vector<double> arrivals = {50, 0, 0, 0};
  const Call call = call_of(Collective::gather, sizes, arrivals);
  EXPECT_DOUBLE_EQ(lower_bound(call, {1, 1}), 63);     // 50 + 1 + 12
  EXPECT_DOUBLE_EQ(linear_optimum(call, {1, 1}), 65);  // 50 + 3 (1 + 4)
  EXPECT_DOUBLE_EQ(lower_bound(call, {1, 1}, Runner::background), 50);
  EXPECT_DOUBLE_EQ(linear_optimum(call, {1, 1}, Runner::background), 50);
}

TEST(Bound, IsNeverBelowTheLastArrival) {
  const std::vector<Bytes> sizes(3, 0);
  const std::vector<double> arrivals = {1, 9, 4};
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const Call call = call_of(collective, sizes, arrivals);
    EXPECT_DOUBLE_EQ(lower_bound(call, {2, 1}), 9);
    EXPECT_DOUBLE_EQ(linear_optimum(call, {2, 1}), 9);
  }
}

TEST(Bound, OfAnAlltoallIsThatOfEqualPairs) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t p = 1 + random() % 9;
    const std::vector<Bytes> sizes(p, static_cast<Bytes>(random() % 8));
    const std::vector<Bytes> pairs(p * p, sizes[0]);
    std::vector<double> arrivals;
    for (std::size_t rank = 0; rank < p; ++rank) {
      arrivals.push_back(static_cast<double>(random() % 30));
    }
    const Runner receiver = random() % 2 == 0 ? Runner::caller : Runner::background;
    Call of_pairs = call_of(Collective::alltoallv, sizes, arrivals);
    of_pairs.pairs = pairs;
    EXPECT_EQ(lower_bound(call_of(Collective::alltoall, sizes, arrivals), {3, 1}, receiver),
              lower_bound(of_pairs, {3, 1}, receiver))
        << "case " << i;
  }
}

TEST(Bound, OfAReduceScatterToOneOwnerIsThatOfAReduce) {
  // A late owner receives 50 bytes after 100. Of 4 ranks that come together 2 rounds are needed.
  const std::vector<Bytes> one = {50, 0, 0, 0};
  const std::vector<double> late = {100, 0, 0, 0};
  EXPECT_DOUBLE_EQ(lower_bound(call_of(Collective::reduce_scatter, one, late), {1, 1}), 151);
  EXPECT_DOUBLE_EQ(lower_bound(call_of(Collective::reduce_scatter, one), {1, 0}), 2);
  std::mt19937_64 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 1000; ++i) {
    const int p = 1 + below(9);
    const Rank owner = below(p);
    const Bytes bytes = below(20);
    std::vector<Bytes> blocks(static_cast<std::size_t>(p), 0);
    blocks[static_cast<std::size_t>(owner)] = bytes;
    const std::vector<Bytes> vectors(static_cast<std::size_t>(p), bytes);
    std::vector<double> arrivals;
    for (Rank rank = 0; rank < p; ++rank) arrivals.push_back(below(6));
    const Runner receiver = below(2) == 0 ? Runner::caller : Runner::background;
    EXPECT_EQ(lower_bound(call_of(Collective::reduce_scatter, blocks, arrivals), {2, 1}, receiver),
              lower_bound({Collective::reduce, owner, vectors, 0, arrivals}, {2, 1}, receiver))
        << "case " << i;
  }
}

TEST(Bound, OfAScanCountsTheRanksAboveALateOne) {
  // Rank 0's contribution must reach 7 ranks: 3 rounds after 100. Of rank 5 it must reach 2.
  const std::vector<Bytes> sizes(8, 1);
  std::vector<double> arrivals = {100, 0, 0, 0, 0, 0, 0, 0};
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    EXPECT_DOUBLE_EQ(lower_bound(call_of(collective, sizes, arrivals), {1, 0}), 103);
  }
  std::swap(arrivals[0], arrivals[5]);
  EXPECT_DOUBLE_EQ(lower_bound(call_of(Collective::scan, sizes, arrivals), {1, 0}), 102);
}

TEST(Bound, NoSimulatedTimeIsBelowIt) {
  std::mt19937_64 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<const char*> algorithms = {"linear",   "linear_sequence", "linear_sync",
                                               "binomial", "knomial:k=4",     "ordered_tree"};
  for (int i = 0; i < 3000; ++i) {
    const bool gathers = below(2) == 0;
    const bool background = below(2) == 0;
    const int p = 1 + below(20);
    Call call{gathers ? Collective::gatherv : Collective::scatterv, below(p), {}, 0};
    std::vector<double> arrivals;
    const double late = below(3) * 20;
    for (int rank = 0; rank < p; ++rank) {
      call.sizes.push_back(below(3) == 0 ? 0 : below(20));
      arrivals.push_back(below(2) == 0 ? 0 : late + below(5));
    }
    const char* algorithm = algorithms[static_cast<std::size_t>(below(6))];
    auto schedules = testing_support::schedules_of(algorithm, call);
    if (background) {
      const Order order = Order::rotated(p, call.root);
      for (Schedule& schedule : schedules) {
        schedule = in_background(schedule, order.position_of(schedule.rank));
      }
    }
    const Machine machine{static_cast<double>(below(6)), 1};
    const Timeline timeline = *simulate(schedules, machine, arrivals);
    const double last = *std::max_element(timeline.exits.begin(), timeline.exits.end());
    call.arrivals = arrivals;
    const Runner receiver = background ? Runner::background : Runner::caller;
    EXPECT_GE(last, lower_bound(call, machine, receiver)) << algorithm << " " << i;
    const double linear = linear_optimum(call, machine, receiver);
    const bool in_class = std::string_view(algorithm).starts_with("linear");
    if (in_class) {
      EXPECT_GE(last, linear) << algorithm << " " << i;
    }
    // Any order that does not idle is optimal in the class (without a background, whose root
    // is not under the same release dates).
    if (std::string_view(algorithm) == "linear" && !background) {
      EXPECT_DOUBLE_EQ(last, linear) << i;
    }
  }
}

}  // namespace
}  // namespace tutti
