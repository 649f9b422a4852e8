/// What ranks note for an agreement, and what they learn from it.
#include <algorithm>
#include <utility>

#include "select/tuner.hpp"

namespace tutti {

namespace {

constexpr std::size_t header = 3;

constexpr std::size_t numbers_per_call(Criterion criterion) {
  return criterion == Criterion::shortest ? 4 : 5;
}

/// The shortest time that a clock measures, in units of its error.
constexpr Nanoseconds errors_per_time = 10;
/// Calls that may pass until those of a window have ended.
constexpr std::uint64_t max_lag = 64;
/// Times are taken anew if the shortest one that the clock measures has grown or fallen so much.
constexpr double max_resolution_growth = 1.5;
constexpr double max_resolution_fall = 4;

}  // namespace

/// What was charged, the cost of creation and the clock's error, then of each call: least and most
/// class, bytes, the mean and the longest elapsed time, and the shortest one or the last arrival
/// and exit.
std::vector<MaxAndSum> Tuner::notes(Nanoseconds creation, Nanoseconds clock_error) {
  const bool lacks_exit = std::ranges::any_of(notes_, [](const Note& note) {
    return note.is_valid && note.size_class != not_compared && !note.time.exit;
  });
  std::vector<MaxAndSum> all = {{-std::exchange(own_cost_, 0), 0},
                                {-creation, 0},
                                {lacks_exit ? without_clock : clock_error, 0}};
  for (const Note& note : notes_) {
    const std::int64_t size_class = note.is_valid ? note.size_class : not_noted;
    all.push_back({size_class, note.bytes});
    all.push_back({-size_class, note.time.elapsed});
    all.push_back({note.time.elapsed, 0});
    if (criterion_ == Criterion::shortest) {
      all.push_back({-note.time.elapsed, 0});
    } else {
      const Nanoseconds exit = note.time.exit.value_or(0);
      all.push_back({exit - note.time.elapsed, 0});
      all.push_back({exit, 0});
    }
  }
  return all;
}

int Tuner::agree(Agreement& ranks, Nanoseconds creation, Nanoseconds clock_error) {
  int error = 0;
  if (begins_agreement()) {
    waits_ = ranks.may_wait() && agreement_time_.begin();
    error = ranks.begin(notes(creation, clock_error));
    if (error == 0 && waits_) error = ranks.wait();
  } else {
    std::vector<MaxAndSum> combined;
    error = ranks.end(combined);
    if (error == 0) error = conclude(combined, ranks);
  }
  is_stopped_ = error != 0;
  return error;
}

void Tuner::charge_agreement(Nanoseconds elapsed) {
  const bool begins = begins_agreement();
  if (begins && waits_) agreement_time_.add(elapsed);
  charge(begins ? std::max(elapsed, agreement_time_.expected()) : elapsed);
}

WindowCall Tuner::agreed_call(std::span<const MaxAndSum> numbers) const {
  WindowCall call;
  const std::int64_t most = numbers[0].max;
  const bool is_common = most == -numbers[1].max && most < not_compared;
  if (is_common) call.size_class = static_cast<SizeClass>(most);
  if (most == not_noted) return call;
  call.bytes = numbers[0].sum;
  call.elapsed = numbers[1].sum / p_;
  const Nanoseconds longest = numbers[2].max;
  call.times = {-numbers[3].max, call.elapsed, longest};
  if (criterion_ == Criterion::shortest) return call;
  call.elapsed = (longest + call.elapsed) / 2;
  const Nanoseconds after_last = numbers[4].max - numbers[3].max;
  if (after_last >= resolution_) {
    call.times = {after_last, after_last, after_last};  // no rank stays longer
  } else {
    const Nanoseconds both = std::min(resolution_, call.elapsed);
    call.times = {both, both, std::min(resolution_, longest)};
  }
  return call;
}

/// Takes over the error of the clock. Returns whether times of before are not to be compared with
/// later ones: the shortest time that the clock measures is another since the races began, or the
/// clock is new, or gone with the exchange of arrivals.
bool Tuner::follow_clock(Nanoseconds error) {
  if (criterion_ == Criterion::shortest) return false;
  const auto now = std::clamp<Nanoseconds>(errors_per_time * error, 1, without_clock);
  const bool is_other = exceeds(now, max_resolution_growth, race_resolution_) ||
                        exceeds(race_resolution_, max_resolution_fall, now);
  resolution_ = is_other ? now : std::max(resolution_, now);
  if (is_other) race_resolution_ = now;
  return is_other;
}

/// Explored calls of this window do not count either: times of before had chosen their candidates.
/// They are charged all the same, but for comparisons with the MPI's own.
void Tuner::measure_anew(std::span<WindowCall> calls) {
  for (WindowCall& call : calls) {
    if (!call.is_explored) continue;
    const SizeClass size_class = *call.size_class;
    const auto usual = static_cast<Nanoseconds>(budget_.mean_call_of(size_class));
    const Nanoseconds lost = std::max<Nanoseconds>(0, call.times.after_last - usual);
    const bool is_compared = cases_[size_class].exploration().candidate == 0;
    if (!is_compared) budget_.add_loss(size_class, {lost, lost}, false);
    call.size_class.reset();
  }
  for (auto& [size_class, known] : cases_) known.measure_anew();
}

int Tuner::conclude(std::span<const MaxAndSum> combined, Agreement& ranks) {
  const auto cost = static_cast<double>(-combined[0].max);
  if (std::exchange(has_synchronised_, false)) {
    budget_.add_clock(cost);
  } else {
    budget_.add_agreement(cost);
  }
  creation_ = static_cast<double>(-combined[1].max);
  const bool is_clock_new = follow_clock(combined[2].max);
  notes_ = {};
  std::array<WindowCall, window> calls;
  const std::size_t numbers = numbers_per_call(criterion_);
  bool is_complete = true;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i] = agreed_call(combined.subspan(header + numbers * i, numbers));
    is_complete = is_complete && combined[header + numbers * i].max != not_noted;
  }
  count_time(calls);
  if (is_clock_new) measure_anew(calls);
  add_samples(calls);
  if (std::exchange(reopened_at_, never) != never) {
    for (auto& [size_class, known] : cases_) known.reopen();
  }
  if (!is_complete) {
    lag_ = std::clamp<std::uint64_t>(2 * lag_, 1, max_lag);
    rest();  // what ran without a note would run again
  }
  const bool synchronises = may_synchronise(ranks);
  int error = synchronises ? synchronise(ranks) : plan(ranks);
  if (error == 0 && !synchronises) error = learn(ranks);
  selects_native_ =
      std::ranges::all_of(cases_, [](const auto& one) { return one.second.selected() == 0; });
  if (error == 0) plan_window();
  return error;
}

/// Is a common clock missing, and can it be paid now?
bool Tuner::may_synchronise(Agreement& ranks) {
  if (criterion_ == Criterion::shortest || resolution_ < without_clock) return false;
  if (seen_classes().empty()) return false;
  const std::optional<double> cost = ranks.cost_of_clock();
  if (!cost) return false;
  budget_.begin_plan();
  // Like the first explored call, it may take as long as a call before the budget holds it.
  return (!budget_.is_in_debt() && *cost <= budget_.mean_call()) || budget_.can_afford(*cost);
}

/// The next window shows what the MPI's own takes on the clock.
int Tuner::synchronise(Agreement& ranks) {
  rest();
  unpaid_ = {};
  uses_overdraft_ = false;
  is_exploring_ = has_synchronised_ = true;
  return ranks.synchronise();
}

}  // namespace tutti
