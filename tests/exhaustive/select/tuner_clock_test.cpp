/// Collectives whose ranks run ahead of each other, and the common clock that shows their times.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "exhaustive/select/simulated_tuner.hpp"
#include "select/tuner.hpp"

namespace tutti {
namespace {

constexpr int ranks = 3;
constexpr double unit = 1e6;  // nanoseconds

using RankTimes = std::array<double, ranks>;
/// Runs a step of the program with a candidate: from the times of ranks before it to those after.
using Step = std::function<void(int, RankTimes&)>;

/// The MPI's own reaches rank 1 soon, and rank 2 over a slow link, so rank 1 runs ahead of it.
/// Candidate 1 takes less on that link, and rank 1 waits for rank 2.
void over_slow_link(int candidate, RankTimes& now) {
  now[0] += 0.01 * unit;
  if (candidate == 0) {
    now[1] = std::max(now[0], now[1]) + 0.1 * unit;
    now[2] = std::max(now[0], now[2]) + unit;
  } else {
    now[2] = std::max(now[0], now[2]) + 0.6 * unit;
    now[1] = std::max(now[2], now[1]) + 0.1 * unit;
  }
}

/// Broadcasts by rank 0 in a row.
class Broadcasts : public test::CombiningAgreement {
 public:
  explicit Broadcasts(std::optional<double> cost_of_clock, Step step = over_slow_link,
                      int candidates = 2)
      : cost_of_clock_(cost_of_clock), step_(std::move(step)), candidates_(candidates) {
    for (int rank = 0; rank < ranks; ++rank)
      tuners_.emplace_back(ranks, Criterion::last_exit, 0.01);
  }

  int candidates(SizeClass) override { return candidates_; }
  double cost_of_listing(SizeClass) override { return 0; }
  bool needs_creation(SizeClass, int) override { return false; }
  int prepare(SizeClass, int, bool& ready) override {
    ready = true;
    return 0;
  }
  std::optional<double> cost_of_clock() override {
    return has_clock_ ? std::nullopt : cost_of_clock_;
  }
  int synchronise() override {
    tuners_[static_cast<std::size_t>(synchronised_)].charge(
        static_cast<Nanoseconds>(*cost_of_clock_));
    has_clock_ = ++synchronised_ == ranks;
    return 0;
  }

  void call() {
    for (Tuner& tuner : tuners_) tuner.begin_call();
    if (tuners_[0].agrees()) agree();
    const int candidate = tuners_[0].candidate_of(size_class);
    const RankTimes arrivals = now_;
    step_(candidate, now_);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      ASSERT_EQ(tuners_[rank].candidate_of(size_class), candidate);
      RankTime time = {static_cast<Nanoseconds>(now_[rank] - arrivals[rank])};
      if (has_clock_) time.exit = static_cast<Nanoseconds>(now_[rank]);
      tuners_[rank].note(tuners_[rank].call(), size_class, 8, time);
    }
  }

  void compute(double time) {
    for (double& now : now_) now += time;
  }
  /// All ranks wait for each other.
  void barrier() { now_.fill(std::ranges::max(now_)); }

  void start_from(const TuningEvidence& kept) {
    for (Tuner& tuner : tuners_) tuner.start_from(size_class, kept);
  }
  void clock_error(Nanoseconds error) { error_ = error; }
  /// With a `cost` the next clock can be made.
  void lose_clock(std::optional<double> cost) {
    has_clock_ = false;
    synchronised_ = 0;
    cost_of_clock_ = cost;
  }
  [[nodiscard]] bool has_clock() const { return has_clock_; }
  [[nodiscard]] const Tuner& tuner() const { return tuners_[0]; }
  /// Has the latest call explored?
  [[nodiscard]] bool explores() const { return !tuners_[0].is_selected(size_class); }
  [[nodiscard]] const TuningCase& known() const { return *tuners_[0].known(size_class); }
  [[nodiscard]] int selected() const {
    const TuningCase* const known = tuners_[0].known(size_class);
    return known == nullptr ? 0 : known->selected();
  }

 private:
  static constexpr SizeClass size_class = 4;

  void agree() {
    if (tuners_[0].begins_agreement()) combined_.clear();
    const Nanoseconds error = has_clock_ ? error_ : Tuner::without_clock;
    for (Tuner& tuner : tuners_) ASSERT_EQ(tuner.agree(*this, 0, error), 0);
  }

  std::optional<double> cost_of_clock_;
  Step step_;
  int candidates_;
  std::vector<Tuner> tuners_;
  RankTimes now_{};
  int synchronised_ = 0;
  bool has_clock_ = false;
  Nanoseconds error_ = 0;
};

TEST(TunerClock, FindsTheFasterOneWhereRanksRunAhead) {
  Broadcasts clocked(0.5 * unit);
  for (int call = 0; call < 200; ++call) clocked.call();
  EXPECT_TRUE(clocked.has_clock());
  EXPECT_EQ(clocked.selected(), 1);
}

// It may take a call beyond the budget, and a candidate another one.
TEST(TunerClock, ExplorationDoesNotWaitUntilItIsPaid) {
  Broadcasts clocked(0.6 * unit);
  int explored = 0;
  for (int call = 0; call < 60; ++call) {
    clocked.call();
    explored += clocked.explores() ? 1 : 0;
    EXPECT_LE(clocked.tuner().lost(), 0.01 * clocked.tuner().spent() + 2 * unit);
  }
  EXPECT_TRUE(clocked.has_clock());
  EXPECT_GE(explored, 1);
}

TEST(TunerClock, ElapsedTimesDoNotFindIt) {
  Broadcasts without({});
  for (int call = 0; call < 2000; ++call) without.call();
  EXPECT_EQ(without.selected(), 0);
}

// A chain's first rank leaves early and begins its next call meanwhile. Alone a call of it takes
// longer than one whose ranks leave together; in a row such calls take less.
TEST(TunerClock, FindsWhatOverlapsWithItself) {
  const auto step = [](int candidate, RankTimes& now) {
    if (candidate < 2) {
      now.fill(std::ranges::max(now) + (candidate == 0 ? 3 : 1.2) * unit);
      return;
    }
    double begin = now[0];
    for (double& rank : now) {
      begin = std::max(begin, rank);
      rank = begin + unit;
      begin += 0.2 * unit;
    }
  };
  Broadcasts clocked(0.5 * unit, step, 3);
  for (int call = 0; call < 500; ++call) {
    clocked.call();
    clocked.compute(0.3 * unit);
  }
  EXPECT_TRUE(clocked.has_clock());
  EXPECT_EQ(clocked.selected(), 2);
}

// By the first rank to leave it would be selected.
TEST(TunerClock, WithoutIsNotJudgedByTheRankThatLeavesFirst) {
  const auto step = [](int candidate, RankTimes& now) {
    const double begin = std::ranges::max(now);
    now.fill(begin + (candidate == 0 ? 1 : 1.5) * unit);
    if (candidate == 1) now[0] = begin + 0.1 * unit;
  };
  for (const std::optional<double> cost : {std::optional(0.5 * unit), {}}) {
    Broadcasts clocked(0.5 * unit, step);
    const auto run = [&clocked](int calls) {
      for (int call = 0; call < calls; ++call) {
        clocked.call();
        clocked.barrier();
      }
    };
    run(200);
    ASSERT_TRUE(clocked.has_clock());
    clocked.lose_clock(cost);
    run(20'000);
    EXPECT_EQ(clocked.has_clock(), cost.has_value());
    EXPECT_EQ(clocked.selected(), 0);
  }
}

TEST(TunerClock, IsMadeOnceTheBudgetHoldsIt) {
  Broadcasts clocked(20 * unit);
  const auto run = [&clocked](int calls) {
    for (int call = 0; call < calls; ++call) {
      clocked.call();
      clocked.barrier();
    }
  };
  run(500);
  EXPECT_FALSE(clocked.has_clock());
  EXPECT_EQ(clocked.selected(), 1) << "by elapsed times";
  run(20'000);
  EXPECT_TRUE(clocked.has_clock());
  EXPECT_EQ(clocked.selected(), 1) << "on the clock";
}

TEST(TunerClock, KeepsWhatAnEarlierRunHasSelected) {
  for (const double cost : {0.5 * unit, 100 * unit}) {
    Broadcasts kept(cost);
    kept.start_from({1, static_cast<Nanoseconds>(unit), static_cast<Nanoseconds>(0.6 * unit), 32,
                     "2026-01-02"});
    for (int call = 0; call < 2000; ++call) {
      kept.call();
      ASSERT_EQ(kept.selected(), 1) << "after " << call << " calls";
    }
    EXPECT_EQ(kept.has_clock(), cost < unit);
  }
}

TEST(TunerClock, MeasuresAnewWhereItsErrorGrows) {
  Broadcasts clocked(0.5 * unit);
  for (int call = 0; call < 500; ++call) clocked.call();
  ASSERT_EQ(clocked.selected(), 1);
  ASSERT_TRUE(clocked.known().is_settled());
  clocked.clock_error(static_cast<Nanoseconds>(unit));  // it orders no calls any more
  for (int call = 0; call < 5000; ++call) clocked.call();
  EXPECT_EQ(clocked.selected(), 0) << "all times are equal";
  EXPECT_LE(clocked.known().measurements()[0].median, 10 * static_cast<Nanoseconds>(unit));
}

}  // namespace
}  // namespace tutti
