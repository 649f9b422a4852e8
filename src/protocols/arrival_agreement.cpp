/// The coordinator's assignments, and how the ranks read them.
#include "protocols/arrival_agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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
/// Without new estimates epoch ranges double up to this number of calls: a new epoch cannot replace
/// that of an assigned call.
constexpr CallNumber max_range = 64;
/// The same for extensions of profiles.
constexpr CallNumber max_epoch_length = 32;
/// The epoch length begins to grow after this number of calls, when delays are known.
constexpr CallNumber first_calls = 8;
/// The same after a change of profile, which may turn out to be a loss.
constexpr CallNumber min_profile_calls = 5;
/// At most this number of calls are pending, however far a rank is ahead.
constexpr std::size_t max_pending_calls = 8;

/// The index of each rank in the sequence of arrivals. O(p log p).
std::vector<double> ranking_of(const std::vector<double>& arrivals) {
  std::vector<std::size_t> ranks(arrivals.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::ranges::stable_sort(ranks, {}, [&](std::size_t rank) { return arrivals[rank]; });
  std::vector<double> ranking(arrivals.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranking[ranks[i]] = static_cast<double>(i);
  return ranking;
}

std::shared_ptr<ArrivalEpoch> epoch_from(const ArrivalMessage& words, std::size_t head,
                                         std::int64_t number) {
  auto epoch = std::make_shared<ArrivalEpoch>();
  epoch->number = number;
  for (std::size_t i = head; i < words.size(); ++i)
    epoch->arrivals.push_back(std::bit_cast<double>(words[i]));
  epoch->ranking = ranking_of(epoch->arrivals);
  return epoch;
}

ArrivalEstimate estimate_of(const ArrivalMessage& words) {
  return {words[1], std::bit_cast<double>(words[2]), std::bit_cast<double>(words[3]),
          static_cast<Collective>(words[4] / 2), words[4] % 2 != 0};
}

}  // namespace

ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes) {
  ArrivalEpoch between;
  between.number = epoch.number;
  const auto arrival = [&](Rank rank) { return epoch.arrivals[index(rank)]; };
  for (int node = 0; node < nodes.count() && !epoch.arrivals.empty(); ++node) {
    between.arrivals.push_back(arrival(*std::ranges::max_element(nodes.ranks(node), {}, arrival)));
  }
  between.ranking = ranking_of(between.arrivals);
  return between;
}

ArrivalCoordinator::ArrivalCoordinator(int p)
    : p_(p),
      delays_(p),
      errors_(index(p), nothing),
      last_estimated_(index(p), 0),
      behind_(p),
      short_until_(first_calls) {}

std::vector<ArrivalMessage> ArrivalCoordinator::take(Rank from, const ArrivalMessage& words,
                                                     double now) {
  switch (words[0]) {
    case estimate_kind:
      note_estimate(from, estimate_of(words));
      break;
    case question_kind:
      answer(words[1], now);
      break;
    case profile_question_kind:
      uses_profiles_ = true;
      if (words[1] > extended_until_) extend(words[1]);
      break;
    default:
      if (left_ + 1 == p_) messages_.push_back({farewell_kind});
      ++left_;  // last: a rank whose farewell fails for want of memory says it again
  }
  return std::exchange(messages_, {});
}

void ArrivalCoordinator::note_estimate(Rank from, const ArrivalEstimate& estimate) {
  const auto rank = index(from);
  // Estimates for a settled call come too late to compare this rank with others.
  if (estimate.call > settled_) keep(rank, estimate);
  errors_[rank] = estimate.error;
  advance(rank, estimate.call);
  if (estimate.wants_epoch) wanted_ = std::max(wanted_, estimate.call);
  // Half an epoch length ahead, and at least one call, so that no rank waits for the extension: a
  // persistent call needs it at its start, before its estimate is sent.
  const CallNumber next = estimate.call + 1;
  if (uses_profiles_ && next + epoch_length_ / 2 > extended_until_) extend(next);
  while (!pending_.empty() &&
         (pending_.begin()->first <= all_past_ || pending_.size() > max_pending_calls)) {
    settle(pending_.begin()->first);
  }
}

void ArrivalCoordinator::keep(std::size_t rank, const ArrivalEstimate& estimate) {
  Estimates& estimates = pending_[estimate.call];
  estimates.arrivals.resize(index(p_), nothing);
  estimates.arrivals[rank] = estimate.arrival;
  estimates.after = estimate.after;
}

/// Notes that a rank has come to `call`. O(p) where all ranks have left the earliest one.
void ArrivalCoordinator::advance(std::size_t rank, CallNumber call) {
  CallNumber& last = last_estimated_[rank];
  if (call <= last) return;
  if (std::exchange(last, call) > all_past_ || --behind_ > 0) return;
  all_past_ = *std::ranges::min_element(last_estimated_);
  behind_ = static_cast<int>(std::ranges::count(last_estimated_, all_past_));
}

/// Makes an epoch and profiles of the estimates for `call`. Later ones do not count.
void ArrivalCoordinator::settle(CallNumber call) {
  settled_ = call;
  const Estimates estimates = std::move(pending_.extract(call).mapped());
  learned_ = delays_.take(estimates.arrivals) || learned_;
  profile(estimates);
  unchanged_ = 0;
  if (call <= assigned_ || wanted_ < call) return;
  make_epoch(estimates.arrivals, -never);
  publish(assigned_ + 1, call);
}

void ArrivalCoordinator::answer(CallNumber call, double now) {
  if (call <= assigned_) return;  // the answer is on its way
  CallNumber last = call;
  if (const auto found = pending_.find(call); found != pending_.end()) {
    make_epoch(found->second.arrivals, now);
    unchanged_ = 0;
  } else if (learned_) {
    make_epoch(std::vector<double>(index(p_), nothing), -never);
    unchanged_ = 0;
  } else {
    last += std::min(unchanged_, max_range - 1);
  }
  unchanged_ += last - assigned_;
  publish(assigned_ + 1, last);
}

/// A rank without an estimate does not arrive before `not_before`.
void ArrivalCoordinator::make_epoch(const std::vector<double>& estimates, double not_before) {
  const double first = first_of(estimates);
  const double base = std::isinf(first) ? 0 : first;
  arrivals_ = estimates;
  double latest = std::max(base, not_before);
  for (std::size_t rank = 0; rank < arrivals_.size(); ++rank) {
    double& arrival = arrivals_[rank];
    const double delay = delays_.delays()[rank];
    if (std::isnan(arrival) && !std::isnan(delay)) arrival = std::max(base + delay, not_before);
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
  for (const double error : errors_) worst = std::fmax(worst, error);  // which ignores NaN
  return worst;
}

/// Makes a profile of the estimates for a call, filled up with earlier delays. Requires at least 2
/// estimates, a known delay of every other rank, and a known forecast error of every rank.
void ArrivalCoordinator::profile(const Estimates& estimates) {
  if (!uses_profiles_ || known_of(estimates.arrivals) < 2) return;
  const auto is_nan = [](double value) { return std::isnan(value); };
  const double first = first_of(estimates.arrivals);
  std::vector<double> arrivals = estimates.arrivals;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    if (std::isnan(arrivals[rank])) arrivals[rank] = first + delays_.delays()[rank];
  }
  if (std::ranges::any_of(arrivals, is_nan) || std::ranges::any_of(errors_, is_nan)) {
    return;
  }
  ProfilePredictor& predictor = predictors_[estimates.after];
  if (!predictor.take(std::move(arrivals), worst_error())) return;
  epoch_length_ = 1;
  extend_until(extended_until_ + 1, &predictor.profile(), estimates.after);
  short_until_ = extended_until_ + min_profile_calls;
}

/// Extends the profiles to `call` at least. O(p).
void ArrivalCoordinator::extend(CallNumber call) {
  extend_until(std::max(call, extended_until_ + epoch_length_), nullptr, Collective::gather);
  if (call > short_until_) epoch_length_ = std::min(2 * epoch_length_, max_epoch_length);
}

void ArrivalCoordinator::extend_until(CallNumber last, const ArrivalProfile* profile,
                                      Collective after) {
  ArrivalMessage words = {extension_kind, extended_until_ + 1, last};
  if (profile != nullptr) {
    words.insert(words.end(), {static_cast<std::int64_t>(after), ++profiles_});
    for (const double delay : profile->delays) words.push_back(std::bit_cast<std::int64_t>(delay));
  }
  extended_until_ = last;
  messages_.push_back(std::move(words));
}

void ArrivalCoordinator::publish(CallNumber first, CallNumber last) {
  ArrivalMessage words = {range_kind, epoch_, first, last};
  if (published_ != epoch_) {
    for (const double arrival : arrivals_) words.push_back(std::bit_cast<std::int64_t>(arrival));
  }
  published_ = epoch_;
  assigned_ = std::max(assigned_, last);
  messages_.push_back(std::move(words));
}

ArrivalMessage ArrivalMember::estimate(const ArrivalEstimate& estimate) {
  return {estimate_kind, estimate.call, std::bit_cast<std::int64_t>(estimate.arrival),
          std::bit_cast<std::int64_t>(estimate.error),
          2 * static_cast<std::int64_t>(estimate.after) + (estimate.wants_epoch ? 1 : 0)};
}

ArrivalMessage ArrivalMember::question(CallNumber call) { return {question_kind, call}; }

ArrivalMessage ArrivalMember::profile_question(CallNumber call) {
  return {profile_question_kind, call};
}

ArrivalMessage ArrivalMember::farewell() { return {farewell_kind}; }

void ArrivalMember::take(const ArrivalMessage& words) {
  if (words[0] == farewell_kind) {
    over_ = true;
    return;
  }
  if (words[0] == extension_kind) return take_extension(words);
  constexpr std::size_t head = 4;
  if (words.size() > head) newest_ = epoch_from(words, head, words[1]);
  ranges_.push_back({words[2], words[3], newest_});
}

void ArrivalMember::take_extension(const ArrivalMessage& words) {
  Extension extension = extensions_.empty() ? Extension{} : extensions_.back();
  extension.last = words[2];
  constexpr std::size_t head = max_arrival_words(0);
  if (words.size() > head) {
    changed_ = words[1];
    extension.profiles[static_cast<Collective>(words[3])] = epoch_from(words, head, words[4]);
  }
  extensions_.push_back(std::move(extension));
}

bool ArrivalMember::find_profile(CallNumber call, Collective after,
                                 std::shared_ptr<const ArrivalEpoch>& profile) const {
  const auto extension =
      std::ranges::find_if(extensions_, [&](const Extension& one) { return call <= one.last; });
  if (extension == extensions_.end()) return false;
  profile = extension->profiles[after];
  return true;
}

std::shared_ptr<const ArrivalEpoch> ArrivalMember::epoch_for(CallNumber call) const {
  const auto range = std::ranges::find_if(
      ranges_, [&](const EpochRange& one) { return one.first <= call && call <= one.last; });
  return range == ranges_.end() ? nullptr : range->epoch;
}

void ArrivalMember::forget_before(CallNumber call) {
  while (!ranges_.empty() && ranges_.front().last < call) ranges_.pop_front();
  // The last extension stays: the next one starts from its profiles.
  while (extensions_.size() > 1 && extensions_.front().last < call) extensions_.pop_front();
}

}  // namespace tutti
