/// A simulated machine whose ranks tune, and what their tuners are to be judged by.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "select/tuner.hpp"

namespace tutti::test {

inline constexpr double native_seconds = 1e6;  // in nanoseconds, as all times here

/// What each candidate takes for calls of one class, the MPI's own first.
using Times = std::vector<double>;

/// The MPI's own, and 6 candidates that take 0.3 to 3.3 times as long.
inline Times draw(std::mt19937& random, double native) {
  std::uniform_real_distribution<double> factor(-1.2, 1.2);
  Times times = {native};
  for (int candidate = 0; candidate < 6; ++candidate) {
    times.push_back(native * std::exp(factor(random)));
  }
  return times;
}

/// The agreement of a rank that is alone.
class AloneAgreement : public Agreement {
 public:
  int begin(std::vector<MaxAndSum> notes) override {
    notes_ = std::move(notes);
    return 0;
  }
  int end(std::vector<MaxAndSum>& combined) override {
    combined = notes_;
    return 0;
  }
  int candidates(SizeClass) override { return 1; }
  double cost_of_listing(SizeClass) override { return 0; }
  bool needs_creation(SizeClass, int) override { return false; }
  int prepare(SizeClass, int, bool& ready) override {
    ready = true;
    return 0;
  }
  [[nodiscard]] const std::vector<MaxAndSum>& notes() const { return notes_; }

 private:
  std::vector<MaxAndSum> notes_;
};

/// The agreement of several ranks, all of which begin before any of them ends. Clear `combined_`
/// before each one.
class CombiningAgreement : public Agreement {
 public:
  int begin(std::vector<MaxAndSum> notes) override {
    combined_.resize(notes.size(), {std::numeric_limits<std::int64_t>::min(), 0});
    for (std::size_t i = 0; i < notes.size(); ++i) {
      combined_[i].max = std::max(combined_[i].max, notes[i].max);
      combined_[i].sum += notes[i].sum;
    }
    return 0;
  }
  int end(std::vector<MaxAndSum>& combined) override {
    combined = combined_;
    return 0;
  }

 protected:
  std::vector<MaxAndSum> combined_;
};

/// A machine whose ranks all have a tuner, and what it should be judged by.
class Simulation : public CombiningAgreement {
 public:
  struct Options {
    int p = 3;
    double budget = 0.01;
    double noise = 0.05;    // relative deviation of a call
    double long_calls = 0;  // probability that a call takes 2 to 5 times as long
    double bursts = 0;      // probability that the next 8 calls take 3 times as long
    double spread = 0.3;    // of arrivals, in units of the MPI's own time
    double agreement = 0.02 * native_seconds;
    double hidden = 0;  // what agreements take of the calls after them, unless they wait
    bool may_wait = true;
    double set_up = 0;  // more, for the first call of a candidate
    double creation = 0;
    int created_candidates = std::numeric_limits<int>::max();  // up to this one need creation
    Criterion criterion = Criterion::shortest;
    Nanoseconds clock_error = Tuner::without_clock;
    bool sizes_vary = false;
    double listing = 0.5 * native_seconds;
    int steps = 0;  // of learning, until the last candidate of each class is known
    double step = 0;
  };

  Simulation(const Options& options, std::map<SizeClass, Times> times, unsigned seed)
      : options_(options), times_(std::move(times)), random_(seed) {
    for (int rank = 0; rank < options.p; ++rank) {
      tuners_.emplace_back(options.p, options.criterion, options.budget, options.sizes_vary);
    }
  }

  [[nodiscard]] bool may_wait() const override { return options_.may_wait; }
  int wait() override {
    EXPECT_TRUE(options_.may_wait);
    waits_ = true;
    return 0;
  }
  double cost_of_listing(SizeClass) override { return options_.listing; }
  int candidates(SizeClass size_class) override {
    created_ += options_.listing / options_.p;
    const bool is_hidden = steps_taken() < options_.steps;
    return static_cast<int>(times_.at(size_class).size()) - (is_hidden ? 1 : 0);
  }
  double cost_of_learning(double) override {
    return steps_taken() < options_.steps ? options_.step : 0;
  }
  int learn(double, bool& has_more) override {
    has_more = steps_taken() + 1 == options_.steps;
    ++calls_of_learn_;
    created_ += options_.step / options_.p;
    return 0;
  }
  /// By all ranks.
  [[nodiscard]] int steps_taken() const { return calls_of_learn_ / options_.p; }
  bool is_informed(SizeClass, int candidate) override { return candidate != uninformed_; }
  bool needs_creation(SizeClass, int candidate) override {
    return candidate > 0 && candidate <= options_.created_candidates;
  }
  int prepare(SizeClass, int candidate, bool& ready) override {
    ready = candidate != cannot_run_;
    if (candidate <= options_.created_candidates) created_ += options_.creation / options_.p;
    return 0;
  }

  /// Begins with what an earlier run measured.
  void start_from(SizeClass size_class, const TuningEvidence& kept) {
    for (Tuner& tuner : tuners_) tuner.start_from(size_class, kept);
  }

  /// One call of all ranks. `invalid`: a rank whose arguments are; it takes the call to be of the
  /// class `guess`.
  void call(SizeClass size_class, int invalid = -1, SizeClass guess = 0) {
    const Tuner& first = tuners_.front();
    const std::uint64_t number = first.begun();
    const bool is_noted = first.calls_to_note() > 0;
    if (reopens_ || !is_noted) runs_native_.clear();
    for (std::uint64_t later = 0; later < first.calls_to_note() && !reopens_; ++later) {
      for (const auto& [other, unused] : times_) {
        runs_native_.emplace(std::pair{number + later, other},
                             first.runs_native_later(later, other));
      }
    }
    const bool knew = !reopens_ && is_noted;
    // Where profiles change, ranks exchange arrivals, and no call passes.
    const bool runs_native = !reopens_ && (is_noted || first.calls_that_pass() > 0) &&
                             first.runs_native_later(0, size_class);
    begin_all();
    ASSERT_EQ(first.call(), number);
    if (is_noted) {
      ASSERT_TRUE(first.is_noted());
    }
    const int candidate = tuners_[0 == invalid ? 1 : 0].candidate_of(size_class);
    if (runs_native) {
      ASSERT_EQ(candidate, 0) << "though it may have passed";
    }
    if (knew) {
      const bool was_to_be_native = runs_native_[{number, size_class}];
      ASSERT_EQ(candidate == 0, was_to_be_native) << "though ranks knew otherwise before";
    }
    const bool is_selected = tuners_[0 == invalid ? 1 : 0].is_selected(size_class);
    for (int rank = 0; rank < options_.p; ++rank) {
      Tuner& tuner = tuners_[static_cast<std::size_t>(rank)];
      if (rank == invalid) {
        static_cast<void>(tuner.candidate_of(guess));
        continue;
      }
      ASSERT_EQ(tuner.candidate_of(size_class), candidate) << "rank " << rank;
    }
    run(size_class, candidate, is_selected, invalid);
  }

  /// One call of a class that holds calls of several sizes. It takes the times of `size`.
  void call_of_size(SizeClass size_class, SizeClass size) {
    begin_all();
    const int candidate = tuners_[0].candidate_of(size_class);
    const bool is_selected = tuners_[0].is_selected(size_class);
    for (Tuner& tuner : tuners_) ASSERT_EQ(tuner.candidate_of(size_class), candidate);
    run(size_class, candidate, is_selected, -1, size);
  }

  /// One call that no candidate may run.
  void foreign_call(double seconds) {
    begin_all();
    for (Tuner& tuner : tuners_) {
      ASSERT_EQ(tuner.candidate_of({}), 0);
      tuner.note(tuner.call(), {}, 0, {static_cast<Nanoseconds>(seconds)});
    }
    spent_ += seconds;
  }

  [[nodiscard]] Times& times(SizeClass size_class) { return times_[size_class]; }
  [[nodiscard]] Tuner& tuner(int rank = 0) { return tuners_[static_cast<std::size_t>(rank)]; }
  void cannot_run(int candidate) { cannot_run_ = candidate; }
  /// What the candidate follows is not known; -1: all is.
  void is_uninformed(int candidate) { uninformed_ = candidate; }
  /// All ranks know in the next call that other ranks are late.
  void reopen() { reopens_ = true; }
  /// Every so many calls of a candidate take so many times as long.
  void stall(int candidate, int distance, double factor) {
    stalls_[candidate] = {distance, factor};
  }
  /// What each rank takes of a candidate's time.
  void share(int candidate, std::vector<double> of_ranks) {
    shares_[candidate] = std::move(of_ranks);
  }
  /// The candidate of a call outside windows.
  [[nodiscard]] int selected(SizeClass size_class) {
    while (tuners_[0].is_noted() || !tuners_[0].is_selected(size_class)) call(size_class);
    return tuners_[0].candidate_of(size_class);
  }
  [[nodiscard]] double spent_when_agreed() const { return spent_when_agreed_; }
  /// By explored calls and agreements, without what other explored calls gained.
  [[nodiscard]] double lost() const { return lost_; }
  /// How far the loss less gains exceeded the budget at most, less the longest explored call and 2
  /// agreements.
  [[nodiscard]] double worst_excess() const { return worst_; }
  /// What explored calls of a class lost less what they gained, and the time spent in it.
  [[nodiscard]] double lost_of(SizeClass size_class) { return classes_[size_class].lost; }
  [[nodiscard]] double spent_of(SizeClass size_class) { return classes_[size_class].spent; }
  [[nodiscard]] int agreements() const { return agreements_; }
  [[nodiscard]] int runs(int candidate) { return runs_[candidate]; }

 private:
  void begin_all() {
    for (Tuner& tuner : tuners_) tuner.begin_call();
    if (std::exchange(reopens_, false)) {
      for (Tuner& tuner : tuners_) tuner.reopen();
    }
    const bool agrees = tuners_[0].agrees();
    const bool ends = tuners_[0].ends_agreement();
    if (agrees && !ends) combined_.clear();
    for (Tuner& tuner : tuners_) {
      ASSERT_EQ(tuner.agrees(), agrees);
      ASSERT_EQ(tuner.ends_agreement(), ends);
      if (!agrees) continue;
      const auto creation = static_cast<Nanoseconds>(options_.creation);
      ASSERT_EQ(tuner.agree(*this, creation, options_.clock_error), 0);
      const double reduction = waits_ ? options_.hidden : 0;
      const double elapsed = ends ? options_.agreement + created_ * options_.p : reduction;
      tuner.charge_agreement(static_cast<Nanoseconds>(elapsed));
    }
    waits_ = false;
    if (ends) count_agreement();
  }

  void count_agreement() {
    ++agreements_;
    spent_when_agreed_ = spent_;
    lost_ += options_.agreement + options_.hidden + created_;
    created_ = 0;
    check_price();
  }

  void run(SizeClass size_class, int candidate, bool is_selected, int invalid) {
    run(size_class, candidate, is_selected, invalid, size_class);
  }

  void run(SizeClass size_class, int candidate, bool is_selected, int invalid, SizeClass size) {
    const Times& times = times_.at(size);
    std::normal_distribution<double> normal(0, options_.noise);
    const double plain = times[static_cast<std::size_t>(candidate)] +
                         (runs_[candidate]++ == 0 && candidate > 0 ? options_.set_up : 0);
    const auto [distance, factor_of_stall] = stalls_[candidate];
    const bool stalls = distance > 0 && runs_[candidate] % distance == 0;
    const double time = plain * std::max(0.1, 1 + std::abs(normal(random_))) * disturbance() *
                        (stalls ? factor_of_stall : 1);
    std::uniform_real_distribution<double> wait(0, options_.spread * native_seconds);
    double elapsed = 0;
    double longest = 0;
    for (int rank = 0; rank < options_.p; ++rank) {
      // The last rank arrives when all others wait.
      const double factor = rank < static_cast<int>(shares_[candidate].size())
                                ? shares_[candidate][static_cast<std::size_t>(rank)]
                                : 1;
      const double after_last = time * factor;
      const double own = after_last + (rank == options_.p - 1 ? 0 : wait(random_));
      elapsed += own / options_.p;
      longest = std::max(longest, own);
      Tuner& tuner = tuners_[static_cast<std::size_t>(rank)];
      if (rank == invalid) continue;
      tuner.note(tuner.call(), size_class, largest_of(size),
                 {static_cast<Nanoseconds>(own), exit_at(spent_ + after_last)});
    }
    if (options_.criterion != Criterion::shortest) elapsed = (elapsed + longest) / 2;
    spent_ += elapsed;
    classes_[size_class].spent += elapsed;
    const double loss = compared(candidate, plain) - compared(0, times[0]);
    if (!is_selected) classes_[size_class].lost += loss;
    if (is_selected || candidate == 0) return;
    lost_ += std::max(0.0, loss);
    gained_ += std::max(0.0, -loss);
    largest_ = std::max(largest_, plain);
    check_price();
  }

  [[nodiscard]] std::optional<Nanoseconds> exit_at(double time) const {
    if (options_.clock_error == Tuner::without_clock) return {};
    return static_cast<Nanoseconds>(time);
  }

  /// What the criterion counts of a candidate's time: less than all where some ranks take a share.
  double compared(int candidate, double time) {
    const std::vector<double>& shares = shares_[candidate];
    if (options_.criterion != Criterion::last_exit || shares.empty()) return time;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    return time * (sum / options_.p + *std::ranges::max_element(shares)) / 2;
  }

  /// The factor by which others on the machine make a call longer.
  double disturbance() {
    std::uniform_real_distribution<double> factor(2, 5);
    const auto happens = [&](double probability) {
      return probability > 0 && std::bernoulli_distribution(probability)(random_);
    };
    if (burst_calls_left_ > 0) --burst_calls_left_;
    if (happens(options_.bursts)) burst_calls_left_ = 8;
    return (burst_calls_left_ > 0 ? 3 : 1) * (happens(options_.long_calls) ? factor(random_) : 1);
  }

  void check_price() {
    const double agreements = 2 * (options_.agreement + options_.hidden);
    worst_ = std::max(worst_, lost_ - gained_ - options_.budget * spent_ - largest_ - agreements);
  }

  struct Class {
    double lost = 0;
    double spent = 0;
  };

  Options options_;
  std::map<SizeClass, Times> times_;
  std::map<SizeClass, Class> classes_;
  std::mt19937 random_;
  std::vector<Tuner> tuners_;
  std::map<int, int> runs_;
  /// By number and class, for the calls of the window, as first known.
  std::map<std::pair<std::uint64_t, SizeClass>, bool> runs_native_;
  std::map<int, std::vector<double>> shares_;
  std::map<int, std::pair<int, double>> stalls_;
  int cannot_run_ = -1;
  int uninformed_ = -1;
  int burst_calls_left_ = 0;
  bool reopens_ = false;
  bool waits_ = false;      // the agreement that has begun
  int calls_of_learn_ = 0;  // of all ranks
  double created_ = 0;
  int agreements_ = 0;
  double lost_ = 0;
  double gained_ = 0;
  double spent_ = 0;
  double spent_when_agreed_ = 0;
  double largest_ = 0;
  double worst_ = -1e18;
};

}  // namespace tutti::test
