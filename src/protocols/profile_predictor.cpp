/// The most typical forecast, and what moves it.
#include "protocols/profile_predictor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tutti {

namespace {

/// So many forecasts are compared: four of a new pattern outweigh the old one.
constexpr std::size_t remembered = 5;
/// The first picture waits for as many as it takes to tell what is usual from what is not.
constexpr std::size_t enough = 3;
/// Seconds that no collective makes use of.
constexpr double negligible = 1e-5;

/// The largest difference for any rank.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t rank = 0; rank < a.size(); ++rank)
    largest = std::max(largest, std::abs(a[rank] - b[rank]));
  return largest;
}

bool is_flat(const ArrivalPicture& picture, double errors) {
  return picture.spread() <= std::max(negligible, errors * picture.error);
}

/// By half, and by enough to move a choice.
bool differ_in_error(const ArrivalPicture& a, const ArrivalPicture& b) {
  const auto [less, more] = std::minmax(a.error, b.error);
  return more > 1.5 * less + negligible && more > b.spread() / 8;
}

int magnitude(Bytes bytes) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

}  // namespace

double ArrivalPicture::spread() const {
  return lateness.empty() ? 0 : *std::max_element(lateness.begin(), lateness.end());
}

bool ArrivalOutlook::take(std::vector<double> arrivals, double error, Bytes block) {
  const double first = *std::min_element(arrivals.begin(), arrivals.end());
  for (double& arrival : arrivals) arrival -= first;
  last_.push_back(std::move(arrivals));
  if (last_.size() > remembered) last_.pop_front();
  if (last_.size() < enough) return false;
  const std::vector<double>& typical = most_typical();
  if (!has_changed({typical, error, block}, mean_distance(typical))) return false;
  picture_ = {typical, error, block};
  return true;
}

/// From the forecasts, or if it is one of them from the others.
double ArrivalOutlook::mean_distance(const std::vector<double>& lateness) const {
  double sum = 0;
  std::size_t others = 0;
  for (const std::vector<double>& other : last_) {
    if (&other == &lateness) continue;
    sum += distance(lateness, other);
    ++others;
  }
  return others == 0 ? 0 : sum / static_cast<double>(others);
}

/// Of several, the latest.
const std::vector<double>& ArrivalOutlook::most_typical() const {
  return *std::min_element(last_.rbegin(), last_.rend(), [this](const auto& a, const auto& b) {
    return mean_distance(a) < mean_distance(b);
  });
}

/// `scatter` is how far the forecasts are from the one that `now` shows.
bool ArrivalOutlook::has_changed(const ArrivalPicture& now, double scatter) const {
  if (picture_.lateness.empty()) return true;
  // Once flat it takes more to be apart again, or a picture at the border would never rest.
  const bool was_flat = is_flat(picture_, 2);
  const bool flat = is_flat(now, was_flat ? 3 : 2);
  if (was_flat && flat) return false;
  if (was_flat != flat || differ_in_error(picture_, now)) return true;
  if (std::abs(magnitude(picture_.block) - magnitude(now.block)) >= 2) return true;
  const double away = mean_distance(picture_.lateness);
  return away > std::max(picture_.spread(), now.spread()) / 4 + negligible && away > 1.5 * scatter;
}

}  // namespace tutti
