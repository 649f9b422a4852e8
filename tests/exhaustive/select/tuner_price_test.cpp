/// What exploring may lose at most, whatever the machine does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::draw;
using test::native_seconds;
using test::Simulation;
using test::Times;

TEST(Tuner, LosesNoMoreThanTheBudgetAndOneCall) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    Times times = draw(random, native_seconds);
    times[1] = 50 * native_seconds;  // hopeless ones come first
    times[3] = 400 * native_seconds;
    Simulation simulation({.budget = seed % 2 == 0 ? 0.01 : 0.1}, {{4, times}}, seed);
    for (int call = 0; call < 20000; ++call) simulation.call(4);
    EXPECT_LE(simulation.worst_excess(), 0) << "seed " << seed;
    EXPECT_GE(simulation.runs(3), 1);
    // The account of the tuner is close to what was lost.
    EXPECT_NEAR(simulation.tuner().lost(), simulation.lost(), 0.2 * simulation.lost());
    EXPECT_NEAR(simulation.tuner().spent(), simulation.spent_when_agreed(),
                0.1 * simulation.spent_when_agreed());
  }
}

/// Ranks see a thousandth of a reduction; the calls after it take the rest.
TEST(Tuner, PaysForWhatCallsHideOfAgreements) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Simulation simulation({.agreement = 0.001 * native_seconds, .hidden = 0.7 * native_seconds},
                          {{4, draw(random, native_seconds)}}, seed);
    for (int call = 0; call < 20000; ++call) simulation.call(4);
    EXPECT_LE(simulation.worst_excess(), 0) << "seed " << seed;
    EXPECT_NEAR(simulation.tuner().lost(), simulation.lost(), 0.2 * simulation.lost());
    EXPECT_GE(simulation.runs(1), 1);
  }
}

TEST(Tuner, IsChargedWithWhatRanksSeeWhereNoneMayWait) {
  Simulation simulation({.agreement = 0.001 * native_seconds, .may_wait = false},
                        {{4, {native_seconds, 1.3 * native_seconds}}}, 1);
  for (int call = 0; call < 2000; ++call) simulation.call(4);
  EXPECT_LE(simulation.worst_excess(), 0);
  EXPECT_NEAR(simulation.tuner().lost(), simulation.lost(), 0.2 * simulation.lost());
}

TEST(Tuner, GainsOfExploredCallsPayForOthers) {
  // The slow candidates of the small class lose more than the budget of the time of all calls.
  Simulation::Options options;
  options.budget = 0.005;
  options.agreement = 0.001 * native_seconds;
  const Times large = {4 * native_seconds, native_seconds, 0.8 * native_seconds,
                       0.6 * native_seconds, 0.4 * native_seconds};
  const Times small = {native_seconds, 20 * native_seconds, 20 * native_seconds,
                       20 * native_seconds, 0.5 * native_seconds};
  Simulation simulation(options, {{3, small}, {20, large}}, 5);
  std::mt19937 random(5);
  for (int round = 0; round < 8000; ++round) {
    const bool first = random() % 2 == 0;
    simulation.call(first ? 3 : 20);
    simulation.call(first ? 20 : 3);
  }
  EXPECT_EQ(simulation.selected(3), 4);
  EXPECT_EQ(simulation.selected(20), 4);
  EXPECT_GT(simulation.lost(), options.budget * (simulation.spent_of(3) + simulation.spent_of(20)));
  EXPECT_LE(simulation.worst_excess(), native_seconds);
}

TEST(Tuner, LargeSizesDoNotPayForSmallOnesThatLoseTheirOwnTime) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Times small = draw(random, native_seconds);
    for (std::size_t i = 1; i < small.size(); ++i)
      small[i] = static_cast<double>(2 + i) * native_seconds;
    Simulation simulation({}, {{3, small}, {20, draw(random, 100 * native_seconds)}}, seed);
    for (int call = 0; call < 1000; ++call) simulation.call(random() % 2 == 0 ? 3 : 20);
    EXPECT_GT(simulation.lost_of(3), 0);
    // The share of a class in the time is known by its noted calls.
    EXPECT_LE(simulation.lost_of(3), 0.05 * simulation.spent_of(3) + small.back()) << seed;
  }
}

TEST(Tuner, CreatesOnlyWhatTheBudgetHolds) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Simulation simulation({.creation = 100 * native_seconds}, {{4, draw(random, native_seconds)}},
                          seed);
    for (int call = 0; call < 7000; ++call) simulation.call(4);
    for (int candidate = 1; candidate <= 6; ++candidate) EXPECT_EQ(simulation.runs(candidate), 0);
    for (int call = 0; call < 100000; ++call) simulation.call(4);
    // Calls outside windows are counted by an estimate: within 2 % of what is created.
    EXPECT_LE(simulation.worst_excess(), 2 * native_seconds) << "seed " << seed;
    EXPECT_GE(simulation.runs(1), 1);
  }
}

TEST(Tuner, ListsCandidatesOnceTheBudgetHoldsIt) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    Simulation simulation({.listing = 100 * native_seconds}, {{4, draw(random, native_seconds)}},
                          seed);
    for (int call = 0; call < 7000; ++call) simulation.call(4);
    EXPECT_EQ(simulation.runs(1), 0);
    for (int call = 0; call < 20000; ++call) simulation.call(4);
    EXPECT_LE(simulation.worst_excess(), 2 * native_seconds) << "seed " << seed;
    EXPECT_GE(simulation.runs(1), 1);
  }
}

/// Calls of 4 classes at random, on a machine that stalls. Some candidates take 50 or 200 times as
/// long as the MPI's own, and from time to time all times of a class change.
TEST(Tuner, LosesLittleBeyondTheBudgetWhateverTheMachineDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> length(-2, 2);
    std::uniform_real_distribution<double> drift(-0.7, 0.7);
    std::uniform_int_distribution<SizeClass> any(1, 4);
    std::map<SizeClass, Times> times;
    for (SizeClass one = 1; one <= 4; ++one) {
      times[one] = draw(random, native_seconds * std::exp(length(random)));
      times[one][1] = 50 * times[one][0];
      times[one][4] = 200 * times[one][0];
    }
    Simulation simulation({.budget = seed % 2 == 0 ? 0.01 : 0.05,
                           .noise = 0.2,
                           .long_calls = 0.05,
                           .bursts = 0.002,
                           .criterion = seed % 3 == 0 ? Criterion::last_exit : Criterion::shortest},
                          times, seed);
    simulation.stall(0, 50, 20);
    simulation.stall(2, 3, 20);
    for (int call = 1; call <= 40'000; ++call) {
      simulation.call(any(random));
      if (call % 5000 != 0) continue;
      for (double& time : simulation.times(any(random))) time *= std::exp(drift(random));
    }
    EXPECT_LE(simulation.worst_excess(), 0) << "seed " << seed;
    EXPECT_GT(simulation.lost(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tutti
