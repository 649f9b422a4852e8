/// What a tuner must reach whatever keeps it waiting, and what its comparisons may take.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

using test::AloneAgreement;
using test::native_seconds;
using test::Simulation;
using test::Times;

constexpr double not_selected = 1e9;

/// The calls of class 4 until a candidate is selected, at most `most`.
double calls_until_selected(Simulation& simulation, int candidate, int most) {
  for (int call = 0; call < most; ++call) {
    simulation.call(4);
    const TuningCase* known = simulation.tuner().known(4);
    if (known != nullptr && known->selected() == candidate) return call;
  }
  return not_selected;
}

/// By what factor calls of the MPI's own beside the selected candidate 1 make `calls` calls longer.
double price_of_comparing(Simulation& simulation, int calls) {
  const Times& times = simulation.times(4);
  const int before = simulation.runs(0);
  for (int call = 0; call < calls; ++call) simulation.call(4);
  return (simulation.runs(0) - before) * (times[0] - times[1]) / (calls * times[1]);
}

TEST(Tuner, WhatWaitsForTheBudgetIsPaidHoweverLongAgreementsAre) {
  const double native = 0.05 * native_seconds;
  for (const double agreement : {0.02, 0.15, 0.3, 1.0, 5.0, 25.0}) {
    for (const double creation : {0.0, 1.0, 3.0}) {
      for (const double spread : {0.0, 0.01}) {
        Simulation simulation({.spread = spread,
                               .agreement = agreement * native,
                               .creation = creation * native_seconds},
                              {{4, {native, 0.5 * native}}}, 1);
        EXPECT_LE(calls_until_selected(simulation, 1, 200'000),
                  30'000 * std::max(1.0, agreement / 4))
            << "agreement " << agreement << " creation " << creation << " spread " << spread;
      }
    }
  }
}

TEST(Tuner, WhatCannotBePaidYetKeepsNoOthersWaiting) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    Times times(7, native_seconds);
    times[2] = 0.2 * native_seconds;
    times[5] = 0.5 * native_seconds;
    Simulation simulation({.creation = 1000 * native_seconds, .created_candidates = 3},
                          {{4, times}}, seed);
    for (int call = 0; call < 7000; ++call) simulation.call(4);
    EXPECT_EQ(simulation.runs(2), 0) << "seed " << seed;
    EXPECT_EQ(simulation.selected(4), 5) << "seed " << seed;
    for (int call = 0; call < 1000000; ++call) simulation.call(4);
    EXPECT_EQ(simulation.selected(4), 2) << "seed " << seed;
  }
}

TEST(Tuner, ComparingASelectionTakesOnePercentInARaceToo) {
  for (const double gain : {2, 5, 10, 30}) {
    Times times = {native_seconds, native_seconds / gain};
    times.resize(17, 3 * native_seconds);
    Simulation simulation({.spread = 0}, {{4, times}}, 1);
    ASSERT_NE(calls_until_selected(simulation, 1, 20'000), not_selected);
    ASSERT_FALSE(simulation.tuner().known(4)->is_settled());
    // Beside the calls that the end of a race needs.
    EXPECT_LE(price_of_comparing(simulation, 5'000), 0.01 + 20 * gain / 5'000) << gain;
    ASSERT_FALSE(simulation.tuner().known(4)->is_settled()) << gain;
  }
}

TEST(Tuner, ComparingASettledSelectionTakesOnePercent) {
  for (const double gain : {2, 10, 30}) {
    Simulation simulation({.spread = 0, .agreement = 2e3},
                          {{4, {native_seconds, native_seconds / gain}}}, 1);
    for (int call = 0; call < 20'000; ++call) simulation.call(4);
    ASSERT_TRUE(simulation.tuner().known(4)->is_settled());
    EXPECT_LE(price_of_comparing(simulation, 100'000), 0.012 + 20 * gain / 100'000) << gain;
  }
}

TEST(Tuner, ADebtOfOneSizeStopsNoComparisonOfAnother) {
  Simulation simulation({.noise = 0.02, .spread = 0, .agreement = 2e3},
                        {{4, {native_seconds, 0.5 * native_seconds}},
                         {18, {native_seconds, 400 * native_seconds, 400 * native_seconds}}},
                        1);
  for (int call = 0; call < 3000; ++call) simulation.call(4);
  ASSERT_EQ(simulation.selected(4), 1);
  for (int call = 0; simulation.runs(2) == 0; ++call) {
    ASSERT_LT(call, 100'000);
    simulation.call(18);
  }
  simulation.times(4) = {0.3 * native_seconds, 0.5 * native_seconds};
  int calls = 0;
  for (; simulation.tuner().known(4)->selected() != 0 && calls < 20'000; ++calls) {
    simulation.call(4);
    simulation.call(18);
  }
  EXPECT_LE(calls, 5000);
}

TEST(Tuner, AgreementsOfShortCallsTakeLittleOfTheBudget) {
  constexpr double agreement = 1e4;
  constexpr double short_call = 400;
  Simulation simulation({.spread = 0, .agreement = agreement},
                        {{4, {short_call, 2 * short_call}}, {20, {1e6, 5e5}}}, 1);
  for (int call = 0; call < 50000; ++call) simulation.call(4);
  const int before = simulation.agreements();
  constexpr int calls = 200000;
  for (int call = 0; call < calls; ++call) simulation.call(4);
  EXPECT_LE((simulation.agreements() - before) * agreement, 0.004 * calls * short_call);
  int unseen = 0;
  while (simulation.tuner().known(20) == nullptr) {
    simulation.call(20);
    ASSERT_LE(++unseen, 10000) << "a new size waits too long";
  }
}

TEST(Tuner, ProfilesThatChangeOftenPostponeNoWindow) {
  for (const int distance : {30, 50, 200}) {
    Simulation simulation({.spread = 1, .criterion = Criterion::last_exit, .clock_error = 0},
                          {{4,
                            {native_seconds, 0.5 * native_seconds, 90 * native_seconds,
                             90 * native_seconds, 90 * native_seconds}}},
                          1);
    ASSERT_NE(calls_until_selected(simulation, 1, 20'000), not_selected);
    int calls = 0;
    const auto call_with_profiles = [&] {
      if (calls++ % distance == 0) simulation.reopen();
      simulation.call(4);
    };
    // The debt of a long call is what postpones windows.
    while (calls < 400) call_with_profiles();
    simulation.times(4)[1] = 4 * native_seconds;
    while (calls < 20'000 && simulation.tuner().known(4)->selected() != 0) call_with_profiles();
    EXPECT_LE(calls, 2400) << "profiles change every " << distance << " calls";
  }
}

// What was measured before says nothing of calls that follow.
TEST(Tuner, WhatIsPlannedAsARaceBeginsAnewRunsOnce) {
  for (int changed = 20; changed < 400; ++changed) {
    Simulation simulation({.noise = 0.3, .spread = 0.001, .agreement = native_seconds / 100},
                          {{4, Times(4, native_seconds)}}, 1);
    for (int call = 0; call < changed; ++call) simulation.call(4);
    simulation.times(4) = {native_seconds, 20 * native_seconds, 20 * native_seconds,
                           20 * native_seconds};
    simulation.reopen();
    for (int call = 0; call < 40; ++call) simulation.call(4);
    EXPECT_LE(simulation.worst_excess(), 0) << "changed after " << changed;
  }
}

TEST(Tuner, ComparesWhatIsSelectedAsFarAsItsTimePays) {
  Simulation simulation({}, {{4, {native_seconds, native_seconds / 2}}, {10, {native_seconds}}}, 1);
  int native = 0;
  for (int call = 0; call < 60000; ++call) {
    const SizeClass size = call % 10 == 0 ? 4 : 10;
    simulation.call(size);
    native += call > 6000 && size == 4 && simulation.tuner().candidate_of(4) == 0 ? 1 : 0;
  }
  EXPECT_EQ(simulation.selected(4), 1);
  EXPECT_GE(native,
            40);  // 1 % of 54000 / 10 calls, if the MPI's own takes twice as long, pays for 54
  EXPECT_LE(native, 75);
}

TEST(Tuner, FindsTheSecondBestOnceTheBestBecomesUneven) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    Simulation simulation({}, {{4, {native_seconds, 0.5 * native_seconds, 0.7 * native_seconds}}},
                          seed);
    for (int call = 0; call < 3000; ++call) simulation.call(4);
    ASSERT_EQ(simulation.selected(4), 1);
    simulation.stall(1, 3, 20);
    EXPECT_LE(calls_until_selected(simulation, 2, 10'000), 5000) << "seed " << seed;
  }
}

class SlowCandidates : public AloneAgreement {
 public:
  static constexpr int count = 31;
  int candidates(SizeClass) override { return count; }
};

/// Persistent requests end after later ones have begun: `in_flight` of them at a time, each as soon
/// as there are so many, or all at once.
void check_price_in_flight(int in_flight, bool all_at_once) {
  constexpr int calls = 60'000;
  constexpr double slow = 30 * native_seconds;
  constexpr double agreement = 2e3;
  struct Open {
    std::uint64_t call;
    double time;
  };
  SlowCandidates rank;
  Tuner tuner(1, Criterion::last_exit, 0.01);
  std::deque<Open> open;
  std::vector<int> runs(SlowCandidates::count);
  double spent = 0;
  double lost = 0;
  double excess = 0;
  bool is_agreed = true;
  const auto wait = [&] {
    const Open oldest = open.front();
    open.pop_front();
    spent += oldest.time;
    tuner.note(oldest.call, SizeClass{4}, 8,
               {static_cast<Nanoseconds>(oldest.time), static_cast<Nanoseconds>(spent)});
  };
  for (int call = 0; call < calls; ++call) {
    tuner.begin_call();
    is_agreed = !tuner.is_noted() && (is_agreed || tuner.begins_agreement());
    // Until the agreement begins, what a passing call runs may be known from the window only.
    if (!is_agreed) {
      ASSERT_EQ(tuner.calls_that_pass(), 0U);
    }
    const bool ends = tuner.ends_agreement();
    if (tuner.agrees()) {
      ASSERT_EQ(tuner.agree(rank, 0), 0);
    }
    if (ends) {
      tuner.charge(static_cast<Nanoseconds>(agreement));
      lost += agreement;
    }
    const int candidate = tuner.candidate_of(SizeClass{4});
    ++runs[static_cast<std::size_t>(candidate)];
    const double time = candidate == 0 ? native_seconds : slow;
    if (!tuner.is_selected(SizeClass{4})) lost += time - native_seconds;
    open.push_back({tuner.call(), time});
    const bool is_full = static_cast<int>(open.size()) >= in_flight;
    if (is_full) wait();
    while (is_full && all_at_once && !open.empty()) wait();
    excess = std::max(excess, lost - 0.01 * spent);
  }
  EXPECT_LE(excess, 4 * slow) << in_flight << " in flight";
  EXPECT_GT(calls - runs[0], 10) << in_flight << " in flight";
}

TEST(Tuner, RequestsInFlightArePaidToo) {
  for (const int in_flight : {1, 2, 4, 6, 8, 20, 60}) {
    check_price_in_flight(in_flight, false);
    check_price_in_flight(in_flight, true);
  }
}

TEST(Tuner, LearnsOnWithoutIdleCallsWhileTheBudgetHoldsIt) {
  Simulation simulation({.steps = 6, .step = 1e-3 * native_seconds},
                        {{4, {native_seconds, 2 * native_seconds, 2 * native_seconds}}}, 1);
  while (simulation.steps_taken() < 2) simulation.call(4);
  int calls = 0;
  for (; simulation.steps_taken() < 6 && calls < 128; ++calls) simulation.call(4);
  EXPECT_EQ(simulation.steps_taken(), 6) << "after 12 calls each; idle windows are 128 apart";
}

TEST(Tuner, AnErrorEndsExploration) {
  /// One function of it fails.
  struct Broken : AloneAgreement {
    explicit Broken(std::string what) : fails(std::move(what)) {}
    int begin(std::vector<MaxAndSum> notes) override {
      return fails == "begin" ? 7 : AloneAgreement::begin(std::move(notes));
    }
    int end(std::vector<MaxAndSum>& combined) override {
      return fails == "end" ? 7 : AloneAgreement::end(combined);
    }
    int candidates(SizeClass) override { return 2; }
    bool needs_creation(SizeClass, int) override { return true; }
    int prepare(SizeClass, int, bool&) override { return 7; }
    std::string fails;
  };
  for (const char* const what : {"begin", "end", "prepare"}) {
    Broken broken(what);
    Tuner tuner(1, Criterion::shortest, 0.01);
    int error = 0;
    std::uint64_t call = 0;
    for (; error == 0 && call < 100; ++call) {
      tuner.begin_call();
      if (tuner.is_noted()) {
        tuner.note(call, 4, 8, {100 * static_cast<Nanoseconds>(native_seconds)});
      }
      if (tuner.agrees()) error = tuner.agree(broken, 0);
    }
    EXPECT_EQ(error, 7) << what;
    EXPECT_EQ(call, Tuner::window + 1 + (broken.fails == "begin" ? 0 : Tuner::overlap)) << what;
    for (; call < 200; ++call) {
      tuner.begin_call();
      EXPECT_TRUE(tuner.runs_native()) << what;
      EXPECT_FALSE(tuner.agrees()) << what;
      EXPECT_EQ(tuner.candidate_of(4), 0) << what;
    }
  }
}

}  // namespace
}  // namespace tutti
