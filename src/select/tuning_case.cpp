/// Racing, selection and drift of one tuning case.
#include "select/tuning_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tutti {

namespace {

constexpr int min_native_calls = 4;
constexpr int min_calls_to_drop = 10;     ///< before it is dropped as no faster
constexpr int min_calls_to_confirm = 12;  ///< of a challenger, unless it is clearly faster
constexpr double clear_gain = 1.5;
constexpr int max_calls_each = 4;
constexpr int max_windows_without_native = 4;
/// What a first call sets up, such as connections, makes it longer by this time or factor at most.
constexpr Nanoseconds max_set_up = 20'000'000;
constexpr double max_set_up_factor = 3;
constexpr double max_loss_at_once = 1.5;
constexpr double max_loss = 1.2;
constexpr double max_loss_in_noise = 3;
constexpr double max_loss_of_a_rank = 1.1;
constexpr double max_loss_in_mean = 1.1;
/// So much longer than usual a call of the MPI's own counts at most: one stall is not the usual.
constexpr double max_excess = 5;
constexpr double drift = 1.5;
constexpr double min_weight = 0.75;
/// Standard scores: one-sided levels of 2.5 %, twice to select, and 20 % for the gain in the mean
/// over the ranks, most of which may be waiting for late ones.
constexpr double score_to_be_faster = 1.96;
constexpr double score_to_be_fair = 0.84;
constexpr std::uint64_t calls_per_interval = 8;

}  // namespace

bool TuningCase::are_shorter(const CallSamples& samples, const CallSamples& others) {
  return shorter_score(samples, others) > score_to_be_faster &&
         exceeds(others.median(), min_gain, samples.median());
}

/// That of a first call that does not count where no other was measured; 0 without any.
Nanoseconds TuningCase::median_of(int candidate) const {
  const State& state = at(candidate);
  return state.samples.count() > 0 ? state.samples.median() : state.set_up;
}

CallLoss TuningCase::add(int candidate, const SampledTimes& times, std::optional<SizeClass> size) {
  ++at(candidate).calls;
  const SizedTimes of_size = size ? native_of_sizes_.add(candidate == 0, times, *size)
                                  : SizedTimes{times, times.after_last, native_median_, 1, true};
  if (candidate == 0 && of_size.native > 0) {
    const auto native = static_cast<double>(of_size.native);
    native_excess_.add(std::min(max_excess, static_cast<double>(times.after_last) / native));
  }
  if (of_size.is_known) add_sample(candidate, of_size);
  if (candidate == exploration_.candidate) ++explored_;
  if (candidate == 0 || candidate != exploration_.candidate) return {};
  const bool has_native = !size || of_size.native > 0;
  const CallLoss loss = has_native ? loss_of(times.after_last, of_size.native) : CallLoss();
  lost_ += std::max<Nanoseconds>(0, loss.beyond_mean);
  return loss;
}

/// `native`: the median of the MPI's own calls of that size.
CallLoss TuningCase::loss_of(Nanoseconds time, Nanoseconds native) const {
  const double mean = native_excess_.value() * static_cast<double>(native);
  const Nanoseconds usual = std::max(native, static_cast<Nanoseconds>(mean));
  return {time - std::clamp(time, native, usual), time - native};
}

void TuningCase::add_sample(int candidate, const SizedTimes& times) {
  const Nanoseconds time = times.relative.after_last;
  State& state = at(candidate);
  if (candidate == selected_) latest_.add(time);
  const bool may_set_up = time - median_of(selected_) <= max_set_up ||
                          !exceeds(time, max_set_up_factor, median_of(selected_));
  const bool sets_up = state.calls == 1 && candidate != 0 &&
                       exceeds(time, max_loss, median_of(selected_)) && may_set_up;
  if (sets_up) {
    state.set_up = time;
    return;
  }
  if (candidate == 0 && native_median_ != 0) {
    const auto deviation = static_cast<double>(times.absolute - native_median_);
    native_squares_.add(deviation * deviation);
  }
  ++state.fresh;
  state.weights.add(static_cast<double>(times.weight));
  weights_.add(static_cast<double>(times.weight));
  state.samples.add(time);
  state.means.add(times.relative.mean);
  state.maxima.add(times.relative.max);
  state.absolute.add(times.absolute, times.weight);
  if (exploration_.candidate == 0) {
    (candidate == 0 ? native_beside_ : selected_beside_).add(times.absolute, times.weight);
  }
  if (candidate == 0) native_median_ = state.samples.latest(CallSamples::few).median();
}

void TuningCase::conclude(std::uint64_t calls) {
  if (is_settled_ && settled_median_ == 0 && latest_.count() >= min_calls)
    settled_median_ = latest_.median();
  const bool drifts = is_settled_ && has_drifted();
  if (!is_settled_ || latest_.count() >= min_calls) latest_.clear();
  if (is_settled_ && are_shorter(native_beside_, selected_beside_)) {
    evidence_.reset();
    return reopen(0);
  }
  if (selected_takes_longer()) reject_selected();
  if (drifts || (is_settled_ && calls >= reopens_at_)) return reopen(selected_);
  if (is_settled_ || at(0).samples.count() < min_native_calls) return;
  select_fastest();
  drop_slow();
}

/// All of at least 4 calls took much longer or shorter than when the case was settled.
bool TuningCase::has_drifted() const {
  if (latest_.count() < min_calls) return false;
  const auto [least, most] = std::ranges::minmax(latest_.times());
  // Beside the MPI's own time, changes of a much shorter one decide nothing.
  const Nanoseconds negligible = native_median_ / 8;
  const Nanoseconds usual = std::max(settled_median_, negligible);
  return exceeds(least, drift, usual) || exceeds(usual, drift, std::max(most, negligible));
}

/// Do ranks pay for what others gain? Both must have been measured.
bool TuningCase::is_unfair(int candidate, int other) const {
  const State& one = at(candidate);
  const State& two = at(other);
  return shorter_score(one.means, two.means) <= (other == 0 ? score_to_be_fair : 0) ||
         exceeds(one.maxima.median(), max_loss_of_a_rank, two.maxima.median());
}

/// Are the calls that a candidate ran about as large as all calls are?
bool TuningCase::is_representative(int candidate) const {
  return at(candidate).weights.value() >= min_weight * weights_.value();
}

/// Does a candidate take longer than the MPI's own in the mean without outliers?
bool TuningCase::is_uneven(int candidate) const {
  const CallSamples& samples = at(candidate).absolute;
  const CallSamples& native = at(0).absolute;
  return candidate != 0 && std::min(samples.count(), native.count()) >= min_calls &&
         samples.trimmed_mean() > native.trimmed_mean();
}

/// Beside calls of the MPI's own, in the mean without outliers, does the selected candidate take
/// longer by 10 %, and by more than those calls vary?
bool TuningCase::selected_takes_longer() const {
  const int native_calls = native_beside_.count();
  const int calls = selected_beside_.count();
  if (selected_ == 0 || std::min(native_calls, calls) < min_calls) return false;
  if (!native_squares_.is_known()) return false;
  const Nanoseconds native = native_beside_.trimmed_mean();
  const Nanoseconds mean = selected_beside_.trimmed_mean();
  const double error = std::sqrt(native_squares_.value() * (1.0 / native_calls + 1.0 / calls));
  return exceeds(mean, max_loss_in_mean, native) &&
         static_cast<double>(mean - native) > score_to_be_faster * error;
}

/// Goes back to the MPI's own, and on with the race without the selected candidate.
void TuningCase::reject_selected() {
  at(selected_).rejected = CandidateState::uneven;
  at(selected_).is_dropped = true;
  // Others were dropped beside it, and may still be faster than the MPI's own.
  for (State& state : candidates_) {
    if (!state.is_dropped || state.rejected == CandidateState::uneven ||
        state.samples.median() >= native_median_) {
      continue;
    }
    state.is_dropped = false;
    state.fresh = 0;
  }
  select(0);
  is_settled_ = false;
  evidence_.reset();
  state_reason();
}

void TuningCase::select_fastest() {
  int best = selected_;
  for (int candidate = 0; candidate < candidates(); ++candidate) {
    State& state = at(candidate);
    if (candidate == selected_ || state.is_dropped || state.fresh < min_calls) continue;
    if (challenger() != 0 && candidate != challenger()) continue;
    if (!is_representative(candidate)) continue;
    state.rejected.reset();
    const CallSamples fresh = state.fresh_samples();
    const CallSamples beside = at(selected_).fresh_samples();
    if (!are_shorter(fresh, beside)) continue;
    const bool is_clear = exceeds(beside.median(), clear_gain, fresh.median());
    if (candidate == challenger() && !is_clear && state.fresh < min_calls_to_confirm) continue;
    if (candidate != 0 && !are_shorter(fresh, at(0).fresh_samples())) continue;
    if (candidate != 0 && (is_unfair(candidate, 0) || is_unfair(candidate, selected_))) {
      state.rejected = CandidateState::unfair;
    }
    if (is_uneven(candidate)) state.rejected = CandidateState::uneven;
    if (!state.rejected &&
        (best == selected_ || state.samples.median() < at(best).samples.median())) {
      best = candidate;
    }
  }
  if (best == selected_) return;
  if (best != 0 && challenger() == 0) return challenge(best);
  select(best);
  evidence_.reset();
  if (best != 0) note_evidence();
  state_reason();
}

void TuningCase::select(int candidate) {
  selected_ = candidate;
  is_kept_ = false;
  challenger_ = 0;
  windows_without_native_ = 0;
  native_beside_.clear();
  selected_beside_.clear();
}

/// Of many candidates the one with the best times was also lucky: its next calls decide, beside
/// calls of the selected one.
void TuningCase::challenge(int candidate) {
  challenger_ = candidate;
  at(candidate).fresh = 0;
  at(selected_).fresh = 0;
}

/// Do at most 1 in 8 calls of the selected candidate take so long?
bool TuningCase::selected_rarely_takes(Nanoseconds time) const {
  const CallSamples latest = at(selected_).samples.latest(CallSamples::few);
  const auto as_long =
      std::ranges::count_if(latest.times(), [time](Nanoseconds other) { return other >= time; });
  return 8 * as_long <= latest.count();
}

void TuningCase::drop_slow() {
  const Nanoseconds best = median_of(selected_);
  for (int candidate = 1; candidate < candidates(); ++candidate) {
    State& state = at(candidate);
    const int count = state.fresh;
    const bool is_challenger = candidate == challenger();
    if (candidate == selected_ || count < (is_challenger ? min_calls : 1) || best == 0) continue;
    const Nanoseconds median = state.fresh_samples().median();
    const int enough = is_challenger ? min_calls_to_confirm : min_calls_to_drop;
    const double most = count >= 2 ? max_loss : max_loss_at_once;
    const bool is_clear = exceeds(median, max_loss_in_noise, best) || selected_rarely_takes(median);
    state.is_dropped = state.is_dropped || (exceeds(median, most, best) && is_clear) ||
                       (count >= enough && median >= best) || count >= max_calls;
  }
  if (at(challenger_).is_dropped) challenger_ = 0;
}

/// As the class says; -1 where there is none.
int TuningCase::next_candidate() const {
  int unknown = -1;
  int fastest = -1;
  // Of a candidate without any time nothing is known but that it was tried.
  const auto time_of = [this](int candidate) {
    const Nanoseconds median = median_of(candidate);
    return median > 0 ? median : std::numeric_limits<Nanoseconds>::max();
  };
  for (int candidate = 1; candidate < candidates(); ++candidate) {
    if (candidate == selected_ || at(candidate).is_out()) continue;
    if (at(candidate).calls == 0) {
      if (unknown < 0) unknown = candidate;
    } else if (fastest < 0 || time_of(candidate) < time_of(fastest)) {
      fastest = candidate;
    }
  }
  const bool is_promising = fastest >= 0 && time_of(fastest) < median_of(selected_);
  return unknown < 0 || is_promising ? fastest : unknown;
}

bool TuningCase::has_deferred() const {
  return std::ranges::any_of(
      candidates_, [](const State& state) { return state.is_deferred && !state.is_excluded; });
}

bool TuningCase::needs_calls() const {
  return !is_settled_ &&
         std::min(at(0).samples.count(), at(selected_).samples.count()) < min_native_calls;
}

bool TuningCase::plan(const Allowance& allowance, std::uint64_t calls) {
  exploration_ = {};
  awaits_budget_ = false;
  if (is_settled_) {
    if (selected_ == 0) return false;
    if (at(0).samples.count() >= min_calls) note_evidence();
    if (allowance.may_compare) exploration_ = {0, max_calls_each};
    return false;
  }
  const bool has_few = at(0).samples.count() < min_native_calls;
  if (challenger() == 0 && selected_ != 0) {
    const bool is_due = ++windows_without_native_ >= max_windows_without_native;
    if ((is_due && allowance.may_compare) || has_few) {
      windows_without_native_ = 0;
      exploration_ = {0, max_calls_each};
      return true;
    }
  }
  if (needs_calls()) return true;
  const int candidate = challenger() != 0 ? challenger() : next_candidate();
  if (candidate < 0 && selected_ != 0 && at(selected_).samples.count() < CallSamples::few) {
    exploration_ = {0, max_calls_each};
    return true;
  }
  if (candidate < 0) {
    awaits_budget_ = has_deferred();
    if (!awaits_budget_) settle(calls);
    return awaits_budget_;
  }
  // What was never measured is expected to take twice the time of the MPI's own.
  const CallSamples fresh = at(candidate).fresh_samples();
  const CallSamples& samples = fresh.count() > 0 ? fresh : at(candidate).samples;
  const bool is_known = samples.count() > 0;
  const Nanoseconds loss = is_known ? samples.median() - native_median_ : native_median_;
  const Nanoseconds most = is_known ? allowance.of_known : allowance.of_new;
  awaits_budget_ = loss > 0 && allowance.is_used_up;
  if (awaits_budget_) return false;
  // What takes no longer needs no allowance.
  const Nanoseconds calls_without_loss = allowance.is_used_up ? 1 : max_calls_each;
  const Nanoseconds fit = loss > 0 ? most / loss : calls_without_loss;
  const auto calls_each = std::clamp<Nanoseconds>(fit, 1, is_known ? max_calls_each : 1);
  exploration_ = {candidate, static_cast<int>(calls_each),
                  calls_each * std::max<Nanoseconds>(0, loss), loss <= most, !is_known};
  return true;
}

void TuningCase::exclude(int candidate) {
  at(candidate).is_excluded = true;
  if (exploration_.candidate == candidate) exploration_ = {};
}

void TuningCase::reopen(int selected) {
  select(selected);
  is_settled_ = false;
  for (State& state : candidates_) {
    State fresh;
    fresh.former = known(state);
    fresh.is_excluded = state.is_excluded;
    fresh.rejected = state.rejected;
    state = std::move(fresh);
  }
  state_reason();
}

void TuningCase::measure_anew() {
  const bool stays = is_kept_;
  const std::string kept_reason = reason_;
  reopen();
  rest();  // without a time of the MPI's own all that a call takes would be its loss
  native_median_ = settled_median_ = 0;
  native_of_sizes_ = {};
  native_squares_ = RecentMean(64);
  weights_ = RecentMean(1024);
  latest_.clear();
  if (!stays) return;
  is_settled_ = is_kept_ = true;
  reason_ = kept_reason;
}

void TuningCase::settle(std::uint64_t calls) {
  is_settled_ = true;
  settled_median_ = median_of(selected_);
  reopens_at_ = std::max(min_calls_settled, calls_per_interval * calls);
  note_evidence();
  state_reason();
}

}  // namespace tutti
