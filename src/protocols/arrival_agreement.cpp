/// The coordinator's decisions, and how the ranks read them.
#include "protocols/arrival_agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace tutti {

namespace {

enum Kind : std::int64_t {
  estimate_kind,
  question_kind,
  profile_question_kind,
  farewell_kind,
  range_kind,
  extension_kind,
};

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double never = std::numeric_limits<double>::infinity();
/// As long as nothing new is known, grants double up to so many calls: a new epoch cannot count
/// for calls that are assigned.
constexpr CallNumber max_range = 64;
/// The same for leases. They begin to grow after so many calls: before it nobody has habits.
constexpr CallNumber max_epoch_length = 32;
constexpr CallNumber first_calls = 8;
/// Or so many after a change, which may turn out to be none for the better.
constexpr CallNumber calls_on_trial = 5;
/// A rank that is so many calls ahead of another does not make the coordinator remember more.
constexpr std::size_t max_open_calls = 8;

std::shared_ptr<ArrivalEpoch> version_of(const std::vector<std::int64_t>& words, std::size_t head,
                                         std::int64_t number, double error) {
  auto epoch = std::make_shared<ArrivalEpoch>();
  epoch->number = number;
  epoch->error = error;
  for (std::size_t i = head; i < words.size(); ++i)
    epoch->arrivals.push_back(std::bit_cast<double>(words[i]));
  epoch->ranking = ranking_of(epoch->arrivals);
  return epoch;
}

/// Root and what has few values in one word.
constexpr std::int64_t few = 1024;

void append(std::vector<std::int64_t>& words, const TimingSample& sample) {
  if (std::isnan(sample.arrival)) return;
  words.insert(words.end(), {static_cast<std::int64_t>(sample.kind.collective) +
                                 few * static_cast<std::int64_t>(sample.after),
                             std::int64_t{sample.kind.root}, sample.kind.block, sample.ran,
                             std::bit_cast<std::int64_t>(sample.arrival),
                             std::bit_cast<std::int64_t>(sample.exit)});
}

ArrivalEstimate estimate_of(const std::vector<std::int64_t>& words) {
  ArrivalEstimate estimate = {
      words[1], std::bit_cast<double>(words[2]),       std::bit_cast<double>(words[3]),
      words[4], static_cast<Collective>(words[5] / 2), words[5] % 2 != 0};
  constexpr std::size_t head = 6;
  if (words.size() == head) return estimate;
  const CallSignature kind = {static_cast<Collective>(words[head] % few),
                              static_cast<Rank>(words[head + 1]), words[head + 2]};
  estimate.before = {kind, static_cast<Collective>(words[head] / few), words[head + 3],
                     std::bit_cast<double>(words[head + 4]),
                     std::bit_cast<double>(words[head + 5])};
  return estimate;
}

/// For which what has been measured says little.
bool are_other_habits(double spread, double other) {
  return std::max(spread, other) > 2 * std::min(spread, other);
}

}  // namespace

std::vector<double> ranking_of(const std::vector<double>& arrivals) {
  std::vector<std::size_t> ranks(arrivals.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::size_t a, std::size_t b) { return arrivals[a] < arrivals[b]; });
  std::vector<double> ranking(arrivals.size());
  for (std::size_t place = 0; place < ranks.size(); ++place)
    ranking[ranks[place]] = static_cast<double>(place);
  return ranking;
}

ArrivalCoordinator::ArrivalCoordinator(int p)
    : p_(p),
      delays_(p),
      errors_(static_cast<std::size_t>(p), nothing),
      blocks_(static_cast<std::size_t>(p), 0),
      last_told_(static_cast<std::size_t>(p), 0),
      wanted_(static_cast<std::size_t>(p), 0),
      short_until_(first_calls) {}

void ArrivalCoordinator::take(Rank from, const std::vector<std::int64_t>& words, double now,
                              std::vector<ArrivalMessage>& out) {
  switch (words[0]) {
    case estimate_kind:
      note_estimate(from, estimate_of(words), out);
      break;
    case question_kind:
      answer(words[1], now, out);
      break;
    case profile_question_kind:
      uses_profiles_ = true;
      if (words[1] > extended_until_) extend(words[1], out);
      break;
    default:
      if (++left_ == p_) send_to_all({farewell_kind}, out);
  }
}

void ArrivalCoordinator::note_estimate(Rank from, const ArrivalEstimate& estimate,
                                       std::vector<ArrivalMessage>& out) {
  const auto rank = static_cast<std::size_t>(from);
  // Of a call that is settled there is nobody left to compare this rank with.
  if (estimate.call > settled_) keep(rank, estimate);
  errors_[rank] = estimate.error;
  blocks_[rank] = estimate.block;
  last_told_[rank] = std::max(last_told_[rank], estimate.call);
  if (estimate.wants_epoch) wanted_[rank] = estimate.call;
  // Half a extend_until ahead of its end, and a call at least, nobody waits for the next one: a
  // persistent call needs it at its start, before its estimate is told.
  const CallNumber next = estimate.call + 1;
  if (uses_profiles_ && next + epoch_length_ / 2 > extended_until_) extend(next, out);
  const CallNumber all_past = *std::min_element(last_told_.begin(), last_told_.end());
  while (!open_.empty() && (open_.begin()->first <= all_past || open_.size() > max_open_calls)) {
    settle(open_.begin()->first, out);
  }
}

void ArrivalCoordinator::keep(std::size_t rank, const ArrivalEstimate& estimate) {
  Estimates& estimates = open_[estimate.call];
  estimates.arrivals.resize(static_cast<std::size_t>(p_), nothing);
  estimates.arrivals[rank] = estimate.arrival;
  estimates.after = estimate.after;
  estimates.before.resize(static_cast<std::size_t>(p_));
  estimates.before[rank] = estimate.before;
}

bool ArrivalCoordinator::owes_epoch() const {
  return *std::max_element(wanted_.begin(), wanted_.end()) > assigned_;
}

/// Nothing more will be said about `call`, or not soon enough.
void ArrivalCoordinator::settle(CallNumber call, std::vector<ArrivalMessage>& out) {
  settled_ = call;
  const Estimates estimates = std::move(open_.extract(call).mapped());
  learned_ = delays_.take(estimates.arrivals) || learned_;
  measure(estimates.before, out);
  profile(estimates, out);
  unchanged_ = 0;
  const bool is_wanted = *std::max_element(wanted_.begin(), wanted_.end()) >= call;
  if (call <= assigned_ || !is_wanted) return;
  make_epoch(estimates.arrivals, -never);
  publish(assigned_ + 1, call, out);
}

void ArrivalCoordinator::answer(CallNumber call, double now, std::vector<ArrivalMessage>& out) {
  if (call <= assigned_) return;  // the answer is on its way
  CallNumber last = call;
  if (const auto told = open_.find(call); told != open_.end()) {
    make_epoch(told->second.arrivals, now);
    unchanged_ = 0;
  } else if (learned_) {
    make_epoch(std::vector<double>(static_cast<std::size_t>(p_), nothing), -never);
    unchanged_ = 0;
  } else {
    last += std::min(unchanged_, max_range - 1);
  }
  unchanged_ += last - assigned_;
  publish(assigned_ + 1, last, out);
}

/// A rank that has said nothing about a call is not there before `not_before`.
void ArrivalCoordinator::make_epoch(const std::vector<double>& estimates, double not_before) {
  const double first = first_of(estimates);
  const double base = std::isinf(first) ? 0 : first;
  arrivals_ = estimates;
  double latest = std::max(base, not_before);
  for (std::size_t rank = 0; rank < arrivals_.size(); ++rank) {
    double& arrival = arrivals_[rank];
    const double late = delays_.delays()[rank];
    if (std::isnan(arrival) && !std::isnan(late)) arrival = std::max(base + late, not_before);
    if (!std::isnan(arrival)) latest = std::max(latest, arrival);
  }
  for (double& arrival : arrivals_) {
    if (std::isnan(arrival)) arrival = std::nextafter(latest, never);
  }
  ++epoch_;
  learned_ = false;
}

double ArrivalCoordinator::worst_error() const {
  double worst = 0;
  for (const double error : errors_) worst = std::max(worst, std::isnan(error) ? worst : error);
  return worst;
}

/// Makes a profile of what is known of a call, where the ranks' habits fill it, who told of it can
/// be compared with another, and all have been able to compare a forecast with what came.
void ArrivalCoordinator::profile(const Estimates& estimates, std::vector<ArrivalMessage>& out) {
  if (!uses_profiles_ || known_of(estimates.arrivals) < 2) return;
  const auto is_nan = [](double value) { return std::isnan(value); };
  const double first = first_of(estimates.arrivals);
  std::vector<double> arrivals = estimates.arrivals;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    if (std::isnan(arrivals[rank])) arrivals[rank] = first + delays_.delays()[rank];
  }
  if (std::any_of(arrivals.begin(), arrivals.end(), is_nan) ||
      std::any_of(errors_.begin(), errors_.end(), is_nan)) {
    return;
  }
  const Bytes block = std::accumulate(blocks_.begin(), blocks_.end(), Bytes{0}) / p_;
  ProfilePredictor& predictor = predictors_[static_cast<std::size_t>(estimates.after)];
  const ArrivalProfile before = predictor.profile();
  if (!predictor.take(std::move(arrivals), worst_error(), block)) return;
  if (!before.delays.empty() && are_other_habits(before.spread(), predictor.profile().spread())) {
    timers_[static_cast<std::size_t>(estimates.after)].forget();
  }
  change(predictor.profile(), estimates.after, out);
}

/// Takes the time of a call that all ranks have told of. O(p).
void ArrivalCoordinator::measure(const std::vector<TimingSample>& samples,
                                 std::vector<ArrivalMessage>& out) {
  const TimingSample& any = samples.front();
  double arrival = -never;
  double exit = -never;
  for (const TimingSample& sample : samples) {
    if (std::isnan(sample.arrival) || sample.kind != any.kind || sample.ran != any.ran) {
      return;
    }
    arrival = std::max(arrival, sample.arrival);
    exit = std::max(exit, sample.exit);
  }
  const auto at = static_cast<std::size_t>(any.after);
  if (!timers_[at].take(any.kind, any.ran, exit - arrival)) return;
  const ArrivalProfile& known = predictors_[at].profile();
  if (known.delays.empty()) return;  // told with the first one
  change(known, any.after, out);
}

void ArrivalCoordinator::change(const ArrivalProfile& profile, Collective after,
                                std::vector<ArrivalMessage>& out) {
  epoch_length_ = 1;
  extend_until(extended_until_ + 1, &profile, after, out);
  short_until_ = extended_until_ + calls_on_trial;
}

/// Extends the extend_until to `call` at least. O(p).
void ArrivalCoordinator::extend(CallNumber call, std::vector<ArrivalMessage>& out) {
  extend_until(std::max(call, extended_until_ + epoch_length_), nullptr, Collective::gather, out);
  if (call > short_until_) epoch_length_ = std::min(2 * epoch_length_, max_epoch_length);
}

void ArrivalCoordinator::extend_until(CallNumber last, const ArrivalProfile* profile,
                                      Collective after, std::vector<ArrivalMessage>& out) {
  std::vector<std::int64_t> words = {extension_kind, extended_until_ + 1, last};
  if (profile != nullptr) {
    words.insert(words.end(), {static_cast<std::int64_t>(after), ++profiles_,
                               std::bit_cast<std::int64_t>(profile->error), profile->block});
    const SignatureTimes& times = timers_[static_cast<std::size_t>(after)].times();
    words.insert(words.end(), {static_cast<std::int64_t>(times.kind.collective) +
                                   few * std::int64_t{times.kind.root},
                               times.kind.block, std::bit_cast<std::int64_t>(times.native)});
    words.push_back(times.native_is_due ? 1 : 0);
    words.insert(words.end(), times.lost.begin(), times.lost.end());
    for (const double late : profile->delays) words.push_back(std::bit_cast<std::int64_t>(late));
  }
  extended_until_ = last;
  send_to_all(words, out);
}

void ArrivalCoordinator::publish(CallNumber first, CallNumber last,
                                 std::vector<ArrivalMessage>& out) {
  std::vector<std::int64_t> words = {range_kind, epoch_, first, last,
                                     std::bit_cast<std::int64_t>(worst_error())};
  if (published_ != epoch_) {
    for (const double arrival : arrivals_) words.push_back(std::bit_cast<std::int64_t>(arrival));
  }
  published_ = epoch_;
  assigned_ = std::max(assigned_, last);
  send_to_all(words, out);
}

void ArrivalCoordinator::send_to_all(const std::vector<std::int64_t>& words,
                                     std::vector<ArrivalMessage>& out) const {
  for (Rank rank = 0; rank < p_; ++rank) out.push_back({rank, words});
}

void ForecastError::add(double seconds) {
  constexpr double negligible = 1e-6;
  constexpr double share = 0.25;
  if (std::isnan(mean_)) {
    mean_ = seconds;
  } else {
    mean_ += share * (std::min(seconds, 3 * mean_ + negligible) - mean_);
  }
}

std::vector<std::int64_t> ArrivalMember::estimate(const ArrivalEstimate& estimate) {
  std::vector<std::int64_t> words = {
      estimate_kind,
      estimate.call,
      std::bit_cast<std::int64_t>(estimate.arrival),
      std::bit_cast<std::int64_t>(estimate.error),
      estimate.block,
      2 * static_cast<std::int64_t>(estimate.after) + (estimate.wants_epoch ? 1 : 0)};
  append(words, estimate.before);
  return words;
}

std::vector<std::int64_t> ArrivalMember::question(CallNumber call) { return {question_kind, call}; }

std::vector<std::int64_t> ArrivalMember::profile_question(CallNumber call) {
  return {profile_question_kind, call};
}

std::vector<std::int64_t> ArrivalMember::farewell() { return {farewell_kind}; }

void ArrivalMember::take(const std::vector<std::int64_t>& words) {
  if (words[0] == farewell_kind) {
    over_ = true;
    return;
  }
  if (words[0] == extension_kind) return take_extension(words);
  constexpr std::size_t head = 5;
  if (words.size() > head) {
    newest_ = version_of(words, head, words[1], std::bit_cast<double>(words[4]));
  }
  ranges_.push_back({words[2], words[3], newest_});
}

void ArrivalMember::take_extension(const std::vector<std::int64_t>& words) {
  Extension extend_until = {words[2],
                            extensions_.empty() ? Profiles{} : extensions_.back().profiles};
  constexpr std::size_t head = max_arrival_words(0);
  if (words.size() > head) {
    changed_ = words[1];
    auto epoch = version_of(words, head, words[4], std::bit_cast<double>(words[5]));
    epoch->block = words[6];
    epoch->times = {
        {static_cast<Collective>(words[7] % few), static_cast<Rank>(words[7] / few), words[8]},
        std::bit_cast<double>(words[9])};
    epoch->times.native_is_due = words[10] != 0;
    std::copy_n(words.begin() + 11, max_choices, epoch->times.lost.begin());
    extend_until.profiles[static_cast<std::size_t>(words[3])] = std::move(epoch);
  }
  extensions_.push_back(std::move(extend_until));
}

bool ArrivalMember::find_profile(CallNumber call, Collective after,
                                 std::shared_ptr<const ArrivalEpoch>& profile) const {
  const auto extend_until = std::find_if(extensions_.begin(), extensions_.end(),
                                         [&](const Extension& one) { return call <= one.last; });
  if (extend_until == extensions_.end()) return false;
  profile = extend_until->profiles[static_cast<std::size_t>(after)];
  return true;
}

std::shared_ptr<const ArrivalEpoch> ArrivalMember::epoch_for(CallNumber call) const {
  const auto range = std::find_if(ranges_.begin(), ranges_.end(), [&](const EpochRange& one) {
    return one.first <= call && call <= one.last;
  });
  return range == ranges_.end() ? nullptr : range->epoch;
}

void ArrivalMember::forget_before(CallNumber call) {
  while (!ranges_.empty() && ranges_.front().last < call) ranges_.pop_front();
  // The last extend_until stays: its profiles go on into the next one.
  while (extensions_.size() > 1 && extensions_.front().last < call) extensions_.pop_front();
}

}  // namespace tutti
