/// Windows of one tuner: what each call runs, and what the next ones explore.
#include "select/tuner.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// Between windows in which nothing explores.
constexpr std::uint64_t min_idle_distance = 128;
constexpr std::uint64_t max_idle_distance = 2048;
/// If that is at most half the calls so far.
constexpr std::uint64_t max_late_idle_distance = 8192;
constexpr std::uint64_t min_distance_in_debt = 64;
constexpr double soon_paid = 1e8;  ///< nanoseconds: what is created before distances are learned

/// A number in 0..7 that looks random, and is the same on all ranks.
std::uint64_t shift_of(std::uint64_t call) { return (call * 0x9E3779B97F4A7C15U) >> 61; }

/// The first of so many calls in a row that a window explores. It depends on the window, so that
/// calls of several classes in turn do not miss it each time.
std::uint64_t first_explored(std::uint64_t calls, std::uint64_t window_begin) {
  return shift_of(window_begin) * (Tuner::window - calls + 1) / 8;
}

}  // namespace

void Tuner::start_from(SizeClass size_class, const TuningEvidence& kept) {
  cases_[size_class].start_from(kept);
  // The kept times may come from a clock, which this run does not have yet.
  if (criterion_ == Criterion::last_exit) cases_[size_class].measure_anew();
  selects_native_ = selects_native_ && kept.candidate == 0;
}

std::optional<TuningEvidence> Tuner::evidence(SizeClass size_class) const {
  const TuningCase* const one = known(size_class);  // also after an error
  return one == nullptr ? std::nullopt : one->evidence();
}

const TuningCase* Tuner::find(std::optional<SizeClass> size_class) const {
  return size_class && !is_stopped_ ? known(*size_class) : nullptr;
}

bool Tuner::explores(const TuningCase& known, std::uint64_t call) const {
  if (!is_in_window(call) || call >= reopened_at_) return false;
  const auto calls = static_cast<std::uint64_t>(known.exploration().calls);
  const std::uint64_t first = window_begin_ + first_explored(calls, window_begin_);
  return call >= first && call - first < calls;
}

int Tuner::candidate_in(std::uint64_t call, std::optional<SizeClass> size_class) const {
  const TuningCase* known = find(size_class);
  if (known == nullptr) return 0;
  return explores(*known, call) ? known->exploration().candidate : known->selected();
}

bool Tuner::is_selected(std::optional<SizeClass> size_class) const {
  const TuningCase* known = find(size_class);
  return known == nullptr || candidate_of(size_class) == known->selected();
}

std::string_view Tuner::reason(SizeClass size_class, int candidate) const {
  const TuningCase* known = find(size_class);
  if (known == nullptr || known->selected() != candidate) return exploring;
  return known->reason();
}

void Tuner::note(std::uint64_t call, std::optional<SizeClass> size_class, Bytes bytes,
                 const RankTime& time) {
  if (!is_in_window(call)) return;
  notes_[call - window_begin_] = {true, size_class.value_or(not_compared), bytes, time};
}

bool Tuner::runs_native() const { return is_stopped_ || (selects_native_ && !is_noted()); }

std::uint64_t Tuner::calls_that_pass() const {
  if (is_stopped_) return std::uint64_t{1} << 30;
  if (begun_ < window_begin_) return window_begin_ - begun_;
  const std::uint64_t begin = window_begin_ + window + lag_;
  const std::uint64_t end = begin + overlap;
  return begun_ > begin && begun_ < end ? end - begun_ : 0;
}

void Tuner::count_time(std::span<WindowCall> calls) {
  Bytes bytes = 0;
  Bytes noted = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const TuningCase* known = find(calls[i].size_class);
    calls[i].is_explored = known != nullptr && explores(*known, window_begin_ + i);
    bytes += calls[i].bytes;
    noted += calls[i].elapsed != 0 ? 1 : 0;
  }
  bytes_per_call_ = noted > 0 ? std::optional(bytes / noted) : std::nullopt;
  budget_.add_time(calls, window_begin_ - last_end_);
  last_end_ = window_begin_ + window;
}

void Tuner::add_samples(std::span<const WindowCall> calls) {
  seen_ = {};
  for (const WindowCall& call : calls) {
    if (!call.size_class) continue;
    TuningCase& known = cases_[*call.size_class];
    seen_[index(*call.size_class)] = true;
    const int candidate = call.is_explored ? known.exploration().candidate : known.selected();
    const auto size = sizes_vary_ ? std::optional(class_of(call.bytes)) : std::nullopt;
    if (call.is_explored && candidate == 0 && known.selected() != 0) {
      budget_.add_comparison(*call.size_class, known.comparison());
    }
    const CallLoss loss = known.add(candidate, call.times, size);
    budget_.add_loss(*call.size_class, loss, !known.exploration().may_overdraw());
  }
}

/// Before the next window, that window may begin at once. Profiles may change more often than
/// windows come, and postpone none.
void Tuner::reopen() {
  if (call_ >= window_begin_) {
    reopened_at_ = std::min(reopened_at_, call_);  // the cases follow when the window is known
    return;
  }
  for (auto& [size_class, known] : cases_) known.reopen();
  is_exploring_ = true;
  const std::uint64_t planned = window_begin_;
  plan_window();
  window_begin_ = std::min(window_begin_, planned);
}

/// The classes that the last window held, those behind the latest that was not paid first.
std::vector<SizeClass> Tuner::seen_classes() const {
  std::vector<SizeClass> all;
  for (int i = 1; i <= size_classes; ++i) {
    const SizeClass size_class = (latest_unpaid_ + i) % size_classes;
    if (seen_[index(size_class)]) all.push_back(size_class);
  }
  return all;
}

/// Explorations of the classes that the last window held; those of others stay as planned.
///
/// Short calls come first: they cost little, and long ones save meanwhile what they need.
int Tuner::plan(Agreement& ranks) {
  is_exploring_ = uses_overdraft_ = false;
  unpaid_ = {};
  budget_.begin_plan();
  for (const auto& [size_class, known] : cases_) {
    const bool stays = !seen_[index(size_class)] && known.exploration().is_paid;
    if (stays) budget_.plan(known.exploration().loss);
  }
  const std::vector<SizeClass> seen = seen_classes();
  std::vector<SizeClass> by_length = seen;
  std::ranges::stable_sort(by_length, {},
                           [this](SizeClass one) { return budget_.mean_call_of(one); });
  bool has_new = false;
  for (const SizeClass size_class : by_length) {
    plan_case(size_class, ranks);
    const TuningCase& known = cases_[size_class];
    const Exploration& next = known.exploration();
    if (!next.is_paid) continue;
    budget_.plan(next.loss);
    has_new = has_new || next.is_new;
    const bool goes_on = known.needs_calls() || (next.calls > 0 && !known.is_settled());
    uses_overdraft_ = uses_overdraft_ || (goes_on && !next.is_new);
  }
  const bool is_in_debt = uses_overdraft_ && budget_.is_in_debt();
  if (is_in_debt) rest_unseen();
  bool may_overdraw = !has_new && !is_in_debt;
  for (const SizeClass size_class : seen) {
    TuningCase& known = cases_[size_class];
    if (!may_overdraw && !known.exploration().is_paid) known.rest();
    if (const int error = prepare(size_class, ranks)) return error;
    if (known.exploration().is_paid) continue;
    unpaid_ = size_class;
    may_overdraw = false;
  }
  return 0;
}

void Tuner::plan_case(SizeClass size_class, Agreement& ranks) {
  TuningCase& known = cases_[size_class];
  known.rest();
  known.conclude(begun_);
  if (!known.is_settled() && !known.has_candidates()) {
    is_exploring_ = true;
    if (!budget_.can_afford(ranks.cost_of_listing(size_class))) return;
    known.set_candidates(ranks.candidates(size_class));
  }
  pass_over(size_class, ranks);
  const double spare = budget_.spare();
  const double left = budget_.left_of(size_class);
  const auto held = [left](double cost) {
    return static_cast<Nanoseconds>(std::max(0.0, std::min(cost, left)));
  };
  const bool awaits_clock = criterion_ == Criterion::last_exit && resolution_ >= without_clock &&
                            ranks.cost_of_clock().has_value();
  const bool may_compare = budget_.may_compare(size_class) && !(awaits_clock && known.is_kept());
  const bool explores =
      known.plan({held(spare), held(spare + budget_.overdraft()), may_compare, left < 0}, begun_);
  is_exploring_ = is_exploring_ || explores;
}

/// Creates what the planned candidate needs. One that cannot run is planned no more.
int Tuner::prepare(SizeClass size_class, Agreement& ranks) {
  TuningCase& known = cases_[size_class];
  const int candidate = known.exploration().candidate;
  if (candidate > 0 && !known.is_tried(candidate)) {
    if (ranks.needs_creation(size_class, candidate) && !budget_.can_afford(creation_)) {
      known.rest();
    } else {
      bool is_ready = false;
      if (const int error = ranks.prepare(size_class, candidate, is_ready)) return error;
      if (!is_ready) known.exclude(candidate);
    }
  }
  if (known.has_deferred() && known.exploration().calls == 0) budget_.await(creation_);
  return 0;
}

/// What can be explored without decides first. Nothing waits for what the budget may never hold.
int Tuner::learn(Agreement& ranks) {
  const std::vector<SizeClass> seen = seen_classes();
  const auto explores_no_more = [this](SizeClass one) {
    return cases_[one].is_settled() || cases_[one].awaits_budget();
  };
  const auto has_data = [](SizeClass one) { return one > 0; };
  const bool creates_soon = budget_.awaited() > 0 && budget_.awaited() <= soon_paid;
  if (creates_soon || std::ranges::none_of(seen, has_data)) return 0;
  if (!std::ranges::all_of(seen, explores_no_more)) return 0;
  const double spare = budget_.spare();
  const double cost = ranks.cost_of_learning(spare);
  if (cost <= 0 || !budget_.can_afford(cost)) return 0;
  bool has_more = false;
  const int error = ranks.learn(spare, has_more);
  for (auto& [size_class, known] : cases_) {
    if (has_more) known.list_again();
  }
  // What the budget holds does not wait for calls.
  const double left = budget_.spare();
  const double next = ranks.cost_of_learning(left);
  is_exploring_ = is_exploring_ || has_more || (next > 0 && next <= left);
  return error;
}

/// Candidates that need what the budget does not hold yet, or what nobody knows, keep no others
/// waiting.
void Tuner::pass_over(SizeClass size_class, Agreement& ranks) {
  TuningCase& known = cases_[size_class];
  known.resume();
  if (known.is_settled()) return;
  const bool may_create = budget_.spare() >= creation_;
  for (int candidate = 1; candidate < known.candidates(); ++candidate) {
    if (!ranks.is_informed(size_class, candidate)) {
      known.ignore(candidate);
    } else if (!may_create && !known.is_tried(candidate) &&
               ranks.needs_creation(size_class, candidate)) {
      known.defer(candidate);
    }
  }
}

/// Agreements alone may take half the budget: a new size should not wait long for its window. After
/// many calls without one they take less.
std::uint64_t Tuner::idle_distance() const {
  const std::uint64_t least =
      std::clamp(budget_.calls_for(budget_.agreements()), min_idle_distance, max_idle_distance);
  const std::uint64_t most =
      std::clamp(budget_.calls_for(10 * budget_.agreements()), least, max_late_idle_distance);
  return std::clamp(call_ / 2, least, most);
}

/// Once the loss is paid for, and later where nothing explores.
void Tuner::plan_window() {
  const std::uint64_t idle = is_exploring_ ? 0 : idle_distance();
  const double debt = budget_.debt() - (uses_overdraft_ ? budget_.overdraft() : 0);
  const std::uint64_t until_paid = budget_.calls_for(debt);
  // What waits for its creation does not keep other classes from being compared. The agreement of
  // the next window is going to be charged, and another one kept.
  const double awaited = budget_.awaited() + budget_.agreements() / 2;
  const std::uint64_t waiting = budget_.awaited() > 0 ? budget_.calls_for(debt + awaited) : 0;
  // Calls may be longer than those of the last window, or become so, and pay sooner. Meanwhile
  // agreements take at most 1/4 of the budget.
  const std::uint64_t farthest =
      std::max(min_distance_in_debt, budget_.calls_for(2 * budget_.agreements()));
  if (until_paid > farthest) {
    rest();
  } else if (unpaid_) {
    latest_unpaid_ = *unpaid_;
    budget_.forget_overdraft();
  }
  const std::uint64_t distance = std::max(idle, std::min(std::max(until_paid, waiting), farthest));
  // A fixed distance could meet the same phase of a program's period in each window.
  window_begin_ = call_ + distance + (distance > 0 ? shift_of(call_) : 0);
}

/// The next window only notes calls, and compares what is selected with the MPI's own.
void Tuner::rest() {
  for (auto& [size_class, known] : cases_) {
    if (known.exploration().candidate != 0) known.rest();
  }
}

/// Classes that the last window did not hold explore nothing that is new or not paid.
void Tuner::rest_unseen() {
  for (auto& [size_class, known] : cases_) {
    if (!seen_[index(size_class)] && known.exploration().may_overdraw()) known.rest();
  }
}

}  // namespace tutti
