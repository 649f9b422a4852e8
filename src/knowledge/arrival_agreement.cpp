/// The coordinator's decisions, and how the ranks read them.
#include "knowledge/arrival_agreement.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace tutti {

namespace {

enum Kind : std::int64_t { estimate_kind, question_kind, farewell_kind, grant_kind };

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double never = std::numeric_limits<double>::infinity();
/// How much the latest estimates count against all earlier ones.
constexpr double weight = 0.5;
/// As long as nothing new is known, grants double up to so many calls: a new version cannot count
/// for calls that are granted.
constexpr CallNumber longest_grant = 64;
/// A rank that is so many calls ahead of another does not make the coordinator remember more.
constexpr std::size_t most_open_calls = 8;

std::vector<double> places_of(const std::vector<double>& arrivals) {
  std::vector<std::size_t> ranks(arrivals.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::size_t a, std::size_t b) { return arrivals[a] < arrivals[b]; });
  std::vector<double> places(arrivals.size());
  for (std::size_t place = 0; place < ranks.size(); ++place)
    places[ranks[place]] = static_cast<double>(place);
  return places;
}

double first_of(const std::vector<double>& estimates) {
  double first = never;
  for (const double estimate : estimates)
    first = std::min(first, std::isnan(estimate) ? first : estimate);
  return first;
}

}  // namespace

ArrivalCoordinator::ArrivalCoordinator(int p)
    : p_(p),
      lateness_(static_cast<std::size_t>(p), nothing),
      last_told_(static_cast<std::size_t>(p), 0),
      last_(p) {}

void ArrivalCoordinator::take(Rank from, const std::vector<std::int64_t>& words, double now,
                              std::vector<ArrivalMail>& out) {
  switch (words[0]) {
    case estimate_kind:
      note_estimate(from, words[1], std::bit_cast<double>(words[2]), out);
      break;
    case question_kind:
      answer(words[1], now, out);
      break;
    default:
      if (++left_ == p_) send_to_all({farewell_kind}, out);
  }
}

void ArrivalCoordinator::note_estimate(Rank from, CallNumber call, double arrival,
                                       std::vector<ArrivalMail>& out) {
  const auto rank = static_cast<std::size_t>(from);
  Estimates& estimates = open_[call];
  estimates.resize(static_cast<std::size_t>(p_), nothing);
  estimates[rank] = arrival;
  last_told_[rank] = std::max(last_told_[rank], call);
  const CallNumber all_past = *std::min_element(last_told_.begin(), last_told_.end());
  while (!open_.empty() && (open_.begin()->first <= all_past || open_.size() > most_open_calls)) {
    settle(open_.begin()->first, out);
  }
}

/// Nothing more will be said about `call`, or not soon enough.
void ArrivalCoordinator::settle(CallNumber call, std::vector<ArrivalMail>& out) {
  const Estimates estimates = std::move(open_.extract(call).mapped());
  learn(estimates);
  unchanged_ = 0;
  if (call <= granted_) return;
  make_version(estimates, -never);
  publish(granted_ + 1, call, out);
}

void ArrivalCoordinator::answer(CallNumber call, double now, std::vector<ArrivalMail>& out) {
  if (call <= granted_) return;  // the answer is on its way
  CallNumber last = call;
  if (const auto told = open_.find(call); told != open_.end()) {
    make_version(told->second, now);
    unchanged_ = 0;
  } else if (learned_) {
    make_version(Estimates(static_cast<std::size_t>(p_), nothing), -never);
    unchanged_ = 0;
  } else {
    last += std::min(unchanged_, longest_grant - 1);
  }
  unchanged_ += last - granted_;
  publish(granted_ + 1, last, out);
}

void ArrivalCoordinator::learn(const Estimates& estimates) {
  const double first = first_of(estimates);
  for (std::size_t rank = 0; rank < estimates.size(); ++rank) {
    if (std::isnan(estimates[rank])) continue;
    const double late = estimates[rank] - first;
    double& known = lateness_[rank];
    known = std::isnan(known) ? late : known + weight * (late - known);
    learned_ = true;
  }
}

/// A rank that has said nothing about a call is not there before `not_before`.
void ArrivalCoordinator::make_version(const Estimates& estimates, double not_before) {
  const double first = first_of(estimates);
  const double base = std::isinf(first) ? 0 : first;
  arrivals_ = estimates;
  double latest = std::max(base, not_before);
  for (std::size_t rank = 0; rank < arrivals_.size(); ++rank) {
    double& arrival = arrivals_[rank];
    if (std::isnan(arrival) && !std::isnan(lateness_[rank])) {
      arrival = std::max(base + lateness_[rank], not_before);
    }
    if (!std::isnan(arrival)) latest = std::max(latest, arrival);
  }
  for (double& arrival : arrivals_) {
    if (std::isnan(arrival)) arrival = std::nextafter(latest, never);
  }
  ++version_;
  learned_ = false;
}

void ArrivalCoordinator::publish(CallNumber first, CallNumber last, std::vector<ArrivalMail>& out) {
  std::vector<std::int64_t> words = {grant_kind, version_, first, last};
  if (published_ != version_) {
    for (const double arrival : arrivals_) words.push_back(std::bit_cast<std::int64_t>(arrival));
  }
  published_ = version_;
  granted_ = std::max(granted_, last);
  send_to_all(words, out);
}

void ArrivalCoordinator::send_to_all(const std::vector<std::int64_t>& words,
                                     std::vector<ArrivalMail>& out) const {
  for (Rank rank = 0; rank < p_; ++rank) out.push_back({rank, words});
}

std::vector<std::int64_t> ArrivalMember::estimate(CallNumber call, double arrival) {
  return {estimate_kind, call, std::bit_cast<std::int64_t>(arrival)};
}

std::vector<std::int64_t> ArrivalMember::question(CallNumber call) { return {question_kind, call}; }

std::vector<std::int64_t> ArrivalMember::farewell() { return {farewell_kind}; }

void ArrivalMember::take(const std::vector<std::int64_t>& words) {
  if (words[0] == farewell_kind) {
    over_ = true;
    return;
  }
  if (words.size() > 4) {
    auto version = std::make_shared<ArrivalVersion>();
    version->number = words[1];
    for (std::size_t i = 4; i < words.size(); ++i)
      version->arrivals.push_back(std::bit_cast<double>(words[i]));
    version->places = places_of(version->arrivals);
    newest_ = std::move(version);
  }
  grants_.push_back({words[2], words[3], newest_});
}

std::shared_ptr<const ArrivalVersion> ArrivalMember::version_for(CallNumber call) const {
  const auto grant = std::find_if(grants_.begin(), grants_.end(), [&](const Grant& one) {
    return one.first <= call && call <= one.last;
  });
  return grant == grants_.end() ? nullptr : grant->version;
}

void ArrivalMember::forget_before(CallNumber call) {
  while (!grants_.empty() && grants_.front().last < call) grants_.pop_front();
}

}  // namespace tutti
