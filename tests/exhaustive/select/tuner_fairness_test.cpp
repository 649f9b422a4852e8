/// What the tuner selects where ranks take different times and machines are noisy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "exhaustive/select/simulated_tuner.hpp"

namespace tutti {
namespace {

using test::native_seconds;
using test::Simulation;
using test::Times;

TEST(Tuner, NoRankPaysForWhatOthersGain) {
  for (const bool waits_for_all : {true, false}) {
    Simulation simulation({.noise = 0.02,
                           .spread = 0.02,
                           .criterion = waits_for_all ? Criterion::shortest : Criterion::last_exit},
                          {{4, {native_seconds, native_seconds}}}, 1);
    simulation.share(1, {0.6, 0.6, 1.5});  // in the mean 0.9
    for (int call = 0; call < 4000; ++call) simulation.call(4);
    EXPECT_GE(simulation.runs(1), 4);
    EXPECT_EQ(simulation.selected(4), 0);
    const auto state = simulation.tuner().known(4)->measurements()[1].state;
    EXPECT_EQ(waits_for_all ? name_of(state) : "unfair", "unfair");
  }
}

TEST(Tuner, WhatEndsEarlierIsSelectedAlsoWhereRanksLeaveLater) {
  Simulation simulation({.noise = 0.02, .spread = 0.02, .criterion = Criterion::last_exit},
                        {{4, {native_seconds, 0.5 * native_seconds}}}, 1);
  simulation.share(0, {0.1, 0.1, 1});  // in the mean 0.4
  for (int call = 0; call < 4000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 1);
}

// Else a gather on many ranks, whose senders leave at once, would hardly ever explore.
TEST(Tuner, WhereTheRootTakesLongItsTimePays) {
  constexpr int p = 30;
  std::vector<double> of_ranks(p, 0.02);
  of_ranks.back() = 1;
  int found = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Times times = {native_seconds, 1.5 * native_seconds, 2 * native_seconds,
                         0.6 * native_seconds, 1.2 * native_seconds};
    Simulation simulation({.p = p, .spread = 0.001, .criterion = Criterion::last_exit},
                          {{4, times}}, seed);
    for (int candidate = 0; candidate < 5; ++candidate) simulation.share(candidate, of_ranks);
    for (int call = 0; call < 1500; ++call) simulation.call(4);
    found += simulation.selected(4) == 3 ? 1 : 0;
    EXPECT_LE(simulation.worst_excess(), 0) << "seed " << seed;
  }
  EXPECT_GE(found, 18);
}

TEST(Tuner, OfCandidatesThatEndTogetherTheOneIsSelectedThatLetsRanksLeaveEarly) {
  Simulation simulation({.noise = 0.02, .spread = 0.02, .criterion = Criterion::last_exit},
                        {{4, {native_seconds, native_seconds, native_seconds}}}, 1);
  simulation.share(2, {0.3, 0.3, 1});
  for (int call = 0; call < 4000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 2);
}

TEST(Tuner, NoRankPaysForWhatOthersGainOverTheSelectedOne) {
  // The second one lets a rank leave early, but takes 1.03 times as long in the mean.
  Simulation simulation({.noise = 0.02, .spread = 0.02, .criterion = Criterion::shortest},
                        {{4, {1.5 * native_seconds, native_seconds, native_seconds}}}, 1);
  simulation.share(2, {0.8, 1.1, 1.2});
  for (int call = 0; call < 6000; ++call) simulation.call(4);
  EXPECT_GE(simulation.runs(2), 4);
  EXPECT_EQ(simulation.selected(4), 1);
}

TEST(Tuner, CallsThatOftenStallAreNotSelected) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Simulation machine({}, {{10, {1e6, 0.5e6}}}, seed);
    machine.stall(1, 5, 20);
    for (int i = 0; i < 40000; ++i) machine.call(10);
    EXPECT_LT(machine.runs(1), 1000) << "seed " << seed;
    EXPECT_EQ(name_of(machine.tuner().known(10)->measurements()[1].state), "uneven");
  }
}

TEST(Tuner, OneStallOfTheMpisOwnMakesNothingFree) {
  for (int stalled = 20; stalled < 60; ++stalled) {
    Times times(31, 10 * native_seconds);
    times[0] = native_seconds;
    Simulation machine({.spread = 0.001, .agreement = native_seconds / 100}, {{4, times}}, 1);
    machine.stall(0, stalled, 1000);
    for (int call = 0; call < 2 * stalled - 5; ++call) machine.call(4);
    EXPECT_LE(machine.worst_excess(), 0) << "call " << stalled;
  }
}

TEST(Tuner, OneStallAmongManyCallsDecidesNothing) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Simulation machine({}, {{10, {1e6, 0.5e6}}}, seed);
    machine.stall(1, 100, 20);
    for (int i = 0; i < 5000; ++i) machine.call(10);
    EXPECT_EQ(machine.selected(10), 1) << "seed " << seed;
  }
}

TEST(Tuner, ARankWithoutDataDoesNotDecide) {
  Simulation simulation({.noise = 0.02, .spread = 0.02, .criterion = Criterion::last_exit},
                        {{4, {native_seconds, native_seconds}}}, 1);
  simulation.share(0, {1, 1, 0.1});
  simulation.share(1, {3, 3, 0.01});
  for (int call = 0; call < 4000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 0);
}

}  // namespace
}  // namespace tutti
