/// Tuners that begin with what an earlier run measured.
#include <gtest/gtest.h>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::native_seconds;
using test::Simulation;
using test::Times;

TuningEvidence kept(int candidate, double native, double choice) {
  return {candidate, static_cast<Nanoseconds>(native), static_cast<Nanoseconds>(choice), 16,
          "2026-11-22"};
}

TEST(KeptKnowledge, IsUsedFromTheFirstCallOn) {
  Simulation simulation({}, {{4, {native_seconds, native_seconds / 2, native_seconds / 3}}}, 1);
  simulation.start_from(4, kept(1, native_seconds, native_seconds / 2.1));
  for (int call = 0; call < 4000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.runs(2), 0);  // nothing explores
  EXPECT_EQ(simulation.selected(4), 1);
  EXPECT_GE(simulation.runs(0), 4);  // it is compared with the MPI's own
  EXPECT_GE(simulation.runs(1), 3850);
  EXPECT_EQ(simulation.tuner().reason(4, 1),
            "measured 2.1x faster than the MPI's own over 16 calls (kept, 2026-11-22)");
}

TEST(KeptKnowledge, SaysWhatItsTimesSay) {
  const auto reason = [](double choice) {
    TuningCase known;
    known.start_from(kept(1, native_seconds, native_seconds * choice));
    return known.reason().substr(0, known.reason().find(" ("));
  };
  EXPECT_EQ(reason(0.3), "measured 3.3x faster than the MPI's own over 16 calls");
  EXPECT_EQ(reason(0.96), "measured 1.04x faster than the MPI's own over 16 calls");
  EXPECT_EQ(reason(1.25), "was faster than the MPI's own; 0.80x as fast over 16 calls");
}

TEST(KeptKnowledge, IsNotExploredWhereTheMpisOwnWasFastest) {
  Simulation simulation({}, {{4, {native_seconds, native_seconds / 3}}}, 1);
  simulation.start_from(4, kept(0, native_seconds, native_seconds));
  for (int call = 0; call < 4000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.runs(1), 0);
  EXPECT_EQ(simulation.tuner().reason(4, 0),
            "nothing was measured to be faster (kept, 2026-11-22)");
  // Measured again after a while, as what has settled is.
  for (int call = 0; call < 8000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 1);
}

TEST(KeptKnowledge, GivesWayWhenTimesDiffer) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    // The kept candidate takes 3 times as long as it did, or the MPI's own is faster now.
    const bool drifts = seed % 2 == 0;
    const Times times = {native_seconds, (drifts ? 1.5 : 1.2) * native_seconds, native_seconds / 2};
    Simulation simulation({}, {{4, times}}, seed);
    simulation.start_from(4, kept(1, 3 * native_seconds, (drifts ? 0.5 : 1.2) * native_seconds));
    for (int call = 0; call < 20000; ++call) simulation.call(4);
    EXPECT_EQ(simulation.selected(4), 2) << "seed " << seed;
    EXPECT_LE(simulation.worst_excess(), 0) << "seed " << seed;
  }
}

TEST(KeptKnowledge, StaysAsItIsAfterAnError) {
  Tuner tuner(2, Criterion::shortest, 0.01);
  tuner.start_from(4, kept(1, native_seconds, native_seconds / 2));
  tuner.stop();
  EXPECT_EQ(tuner.candidate_of(4), 0);
  ASSERT_TRUE(tuner.evidence(4));
  EXPECT_EQ(tuner.evidence(4)->date, "2026-11-22");
}

TEST(KeptKnowledge, IsWhatMeasurementsSupport) {
  Simulation simulation({}, {{4, {native_seconds, native_seconds / 2}}}, 1);
  EXPECT_FALSE(simulation.tuner().evidence(4));
  for (int call = 0; call < 8; ++call) simulation.call(4);
  EXPECT_FALSE(simulation.tuner().evidence(4));
  for (int call = 0; call < 3000; ++call) simulation.call(4);
  const auto known = simulation.tuner().evidence(4);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->candidate, 1);
  EXPECT_EQ(known->date, "");
  EXPECT_NEAR(static_cast<double>(known->native), native_seconds, 0.2 * native_seconds);
  EXPECT_NEAR(static_cast<double>(known->choice), native_seconds / 2, 0.2 * native_seconds);
  EXPECT_GE(known->calls, 4);
}

TEST(KeptKnowledge, KeepsItsDateUntilItIsMeasuredAgain) {
  Simulation simulation({}, {{4, {native_seconds, native_seconds / 2}}}, 1);
  simulation.start_from(4, kept(1, native_seconds, native_seconds / 2));
  for (int call = 0; call < 8; ++call) simulation.call(4);
  EXPECT_EQ(simulation.tuner().evidence(4)->date, "2026-11-22");
  for (int call = 0; call < 1000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.tuner().evidence(4)->date, "");
}

TEST(KeptKnowledge, EndsWhereTheMpisOwnHasBecomeFaster) {
  Simulation simulation({}, {{4, {native_seconds, 1.4 * native_seconds}}}, 1);
  simulation.start_from(4, kept(1, 2 * native_seconds, 1.4 * native_seconds));
  bool has_ended = false;
  for (int call = 0; call < 400; ++call) {
    simulation.call(4);
    has_ended = has_ended || !simulation.tuner().evidence(4);
  }
  EXPECT_TRUE(has_ended);
}

}  // namespace
}  // namespace tutti
