/// Quantiles, and intervals from order statistics.
#include "bench/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace tutti::bench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// P(Binomial(n, 1/2) = k), by logarithms because 2^-n underflows for long runs.
double binomial_half(int n, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) -
                  n * std::log(2.0));
}

double at(const std::vector<double>& samples, int index) {
  return samples[static_cast<std::size_t>(index)];
}

}  // namespace

double quantile(const std::vector<double>& ascending, double q) {
  assert(!ascending.empty() && 0 <= q && q <= 1);
  const double place = q * static_cast<double>(ascending.size() - 1);
  const int below = static_cast<int>(place);
  const int above = std::min(below + 1, static_cast<int>(ascending.size()) - 1);
  return std::lerp(at(ascending, below), at(ascending, above), place - below);
}

Interval median_interval(const std::vector<double>& ascending, double confidence) {
  const int n = static_cast<int>(ascending.size());
  const double allowed = (1 - confidence) / 2;
  int k = 0;
  for (double below = binomial_half(n, 0); k < n / 2 && below <= allowed;) {
    ++k;
    below += binomial_half(n, k);
  }
  if (k == 0) return {-infinity, infinity};
  return {at(ascending, k - 1), at(ascending, n - k)};
}

Summary summarize(std::vector<double> samples) {
  assert(!samples.empty());
  std::sort(samples.begin(), samples.end());
  const int count = static_cast<int>(samples.size());
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {count,
          sum / count,
          samples.front(),
          quantile(samples, 0.5),
          quantile(samples, 0.9),
          quantile(samples, 0.99),
          samples.back()};
}

Ratio ratio_of_medians(std::vector<double> numerator, std::vector<double> denominator,
                       double confidence) {
  std::sort(numerator.begin(), numerator.end());
  std::sort(denominator.begin(), denominator.end());
  const double each = 1 - (1 - confidence) / 2;
  const Interval above = median_interval(numerator, each);
  const Interval below = median_interval(denominator, each);
  const double value = quantile(numerator, 0.5) / quantile(denominator, 0.5);
  if (std::isinf(above.low) || std::isinf(below.low)) return {value, {0, infinity}};
  return {value, {above.low / below.high, above.high / below.low}};
}

}  // namespace tutti::bench
