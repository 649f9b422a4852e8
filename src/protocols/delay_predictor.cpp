/// Exponentially weighted means of delays.
#include "protocols/delay_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {

namespace {
/// Weight of the latest call; all earlier ones share the rest.
constexpr double weight = 0.5;
}  // namespace

double first_of(std::span<const double> arrivals) {
  double first = std::numeric_limits<double>::infinity();
  for (const double arrival : arrivals)
    first = std::min(first, std::isnan(arrival) ? first : arrival);
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
    mean = std::isnan(mean) ? delay : mean + weight * (delay - mean);
  }
  return true;
}

}  // namespace tutti
