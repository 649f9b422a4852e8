/// The tuner on simulated machines whose ranks exchange arrivals.
#include <gtest/gtest.h>

#include <vector>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::AloneAgreement;
using test::native_seconds;
using test::Simulation;
using test::Times;

/// Ranks wait for late ones 20 times as long as a call of the MPI's own takes.
Simulation::Options among_late_ranks(Nanoseconds clock_error) {
  return {.spread = 20, .criterion = Criterion::last_exit, .clock_error = clock_error};
}

TEST(Tuner, SelectsAnOrderByArrivalThatHelpsAmongLateRanks) {
  // The MPI's own lets 2 ranks leave early, the order by arrival none: it ends the call earlier.
  const std::map<SizeClass, Times> times = {{4, {native_seconds, 0.6 * native_seconds}}};
  for (unsigned seed = 0; seed < 20; ++seed) {
    Simulation clocked(among_late_ranks(0), times, seed);
    clocked.share(0, {0.1, 0.1, 1});
    for (int call = 0; call < 200; ++call) clocked.call(4);
    EXPECT_EQ(clocked.selected(4), 1) << "seed " << seed;
  }
  // Elapsed times show waiting.
  Simulation by_elapsed(among_late_ranks(Tuner::without_clock), times, 1);
  by_elapsed.share(0, {0.1, 0.1, 1});
  for (int call = 0; call < 200; ++call) by_elapsed.call(4);
  EXPECT_EQ(by_elapsed.selected(4), 0);
}

TEST(Tuner, DropsAnOrderByArrivalThatHurts) {
  // 2 ranks leave earlier, but the call ends later.
  for (unsigned seed = 0; seed < 20; ++seed) {
    Simulation simulation(among_late_ranks(0), {{4, {native_seconds, 1.3 * native_seconds}}}, seed);
    simulation.share(1, {0.1, 0.1, 1});
    for (int call = 0; call < 2000; ++call) simulation.call(4);
    EXPECT_EQ(simulation.selected(4), 0) << "seed " << seed;
    EXPECT_LE(simulation.runs(1), 8);
    EXPECT_LE(simulation.worst_excess(), 0);
  }
}

TEST(Tuner, ComparesOrdersByArrivalAnewWhenOtherRanksAreLate) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Simulation simulation(among_late_ranks(0),
                          {{4, {native_seconds, 0.5 * native_seconds, 0.7 * native_seconds}}},
                          seed);
    for (int call = 0; call < 1000; ++call) simulation.call(4);
    ASSERT_EQ(simulation.selected(4), 1) << "seed " << seed;
    const int before = simulation.runs(2);
    // Less than drift: only who knows of the change compares again.
    simulation.times(4) = {native_seconds, 0.65 * native_seconds, 0.4 * native_seconds};
    simulation.reopen();
    for (int call = 0; call < 400; ++call) simulation.call(4);
    EXPECT_GT(simulation.runs(2), before);
    EXPECT_EQ(simulation.selected(4), 2) << "seed " << seed;
  }
}

TEST(Tuner, ElapsedTimesDecideWhatTheClockCannotOrder) {
  Simulation simulation({.criterion = Criterion::last_exit,
                         .clock_error = static_cast<Nanoseconds>(native_seconds / 2)},
                        {{4, {native_seconds, 0.2 * native_seconds}}}, 1);
  for (int call = 0; call < 2000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 1);
}

TEST(Tuner, TimesThatTheClockCannotOrderAreEqualAmongLateRanks) {
  Simulation simulation({.spread = 20,
                         .criterion = Criterion::last_exit,
                         .clock_error = static_cast<Nanoseconds>(native_seconds / 9)},
                        {{4, {native_seconds, 0.2 * native_seconds}}}, 1);
  for (int call = 0; call < 2000; ++call) simulation.call(4);
  EXPECT_EQ(simulation.selected(4), 0);
}

TEST(Tuner, NotesThatComeLateCountForNothing) {
  Tuner tuner(1, Criterion::last_exit, 0.01);
  AloneAgreement alone;
  const auto begin_call = [&] {
    tuner.begin_call();
    if (tuner.agrees()) {
      ASSERT_EQ(tuner.agree(alone, 0), 0);
    }
  };
  const auto begin_agreement = [&] {
    for (begin_call(); !tuner.begins_agreement();) begin_call();
  };
  begin_agreement();
  EXPECT_EQ(tuner.call(), Tuner::window);
  tuner.note(Tuner::window - 1, 4, 8, {100});  // its request ends with this wait
  for (std::uint64_t calls = 0; calls < Tuner::overlap; ++calls) begin_call();
  tuner.note(0, 4, 8, {100});
  begin_agreement();
  EXPECT_EQ(tuner.known(4), nullptr);
  for (const MaxAndSum& note : alone.notes()) EXPECT_EQ(note.sum, 0);
}

}  // namespace
}  // namespace tutti
