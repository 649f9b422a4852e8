/// Exponentially weighted means, the most typical forecast, and the changes that replace a profile.
#include "protocols/arrival_predictors.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

/// Of a delay; all earlier ones share the rest.
constexpr double weight_of_latest = 0.5;
/// This number of forecasts are compared: 4 of a new pattern outweigh the old one.
constexpr std::size_t remembered = 5;
/// The first profile needs this number of forecasts, to separate the typical one from outliers.
constexpr std::size_t enough = 3;
/// Seconds. No algorithm gains from differences this small.
constexpr double negligible = 1e-5;

/// The largest difference for any rank, in seconds.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t rank = 0; rank < a.size(); ++rank)
    largest = std::max(largest, std::abs(a[rank] - b[rank]));
  return largest;
}

bool is_flat(const ArrivalProfile& profile, double errors) {
  return profile.spread() <= std::max(negligible, errors * profile.error);
}

}  // namespace

double first_of(std::span<const double> arrivals) {
  double first = std::numeric_limits<double>::infinity();
  for (const double arrival : arrivals) first = std::fmin(first, arrival);  // which ignores NaN
  return first;
}

std::size_t known_of(std::span<const double> arrivals) {
  return static_cast<std::size_t>(
      std::ranges::count_if(arrivals, [](double arrival) { return !std::isnan(arrival); }));
}

DelayPredictor::DelayPredictor(int p)
    : delays_(static_cast<std::size_t>(p), std::numeric_limits<double>::quiet_NaN()) {}

bool DelayPredictor::take(std::span<const double> arrivals) {
  const double first = first_of(arrivals);
  if (known_of(arrivals) < 2) return false;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank) {
    if (std::isnan(arrivals[rank])) continue;
    const double delay = arrivals[rank] - first;
    double& mean = delays_[rank];
    mean = std::isnan(mean) ? delay : mean + weight_of_latest * (delay - mean);
  }
  return true;
}

void ForecastError::add(double seconds) {
  constexpr double negligible_error = 1e-6;
  constexpr double weight = 0.25;
  if (std::isnan(mean_)) {
    mean_ = seconds;
  } else {
    mean_ += weight * (std::min(seconds, 3 * mean_ + negligible_error) - mean_);
  }
}

double ArrivalProfile::spread() const {
  return delays.empty() ? 0 : *std::ranges::max_element(delays);
}

bool ProfilePredictor::take(std::vector<double> arrivals, double error) {
  const double first = *std::ranges::min_element(arrivals);
  for (double& arrival : arrivals) arrival -= first;
  last_.push_back(std::move(arrivals));
  if (last_.size() > remembered) last_.pop_front();
  if (last_.size() < enough) return false;
  const std::vector<double>& typical = most_typical();
  if (!has_changed({typical, error}, mean_distance(typical))) return false;
  profile_ = {typical, error};
  return true;
}

/// From the remembered forecasts, `delays` itself excluded.
double ProfilePredictor::mean_distance(const std::vector<double>& delays) const {
  double sum = 0;
  std::size_t others = 0;
  for (const std::vector<double>& other : last_) {
    if (&other == &delays) continue;
    sum += distance(delays, other);
    ++others;
  }
  return others == 0 ? 0 : sum / static_cast<double>(others);
}

/// The latest one, if several are.
const std::vector<double>& ProfilePredictor::most_typical() const {
  return *std::min_element(last_.rbegin(), last_.rend(), [this](const auto& a, const auto& b) {
    return mean_distance(a) < mean_distance(b);
  });
}

/// `scatter` is the mean distance of the forecasts from that of `now`, in seconds.
bool ProfilePredictor::has_changed(const ArrivalProfile& now, double scatter) const {
  if (profile_.delays.empty()) return true;
  // Hysteresis: a flat profile needs a larger spread to stop being flat.
  const bool was_flat = is_flat(profile_, 2);
  const bool flat = is_flat(now, was_flat ? 3 : 2);
  if (was_flat && flat) return false;
  if (was_flat != flat) return true;
  const double away = mean_distance(profile_.delays);
  return away > std::max(profile_.spread(), now.spread()) / 4 + negligible && away > 1.5 * scatter;
}

}  // namespace tutti
