/// The latest times, medians, the Mann-Whitney statistic, and units of calls of several sizes.
#include "select/call_samples.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace tutti {

void CallSamples::add(Nanoseconds time, Nanoseconds weight) {
  if (times_.size() == most_) {
    times_.erase(times_.begin());
    weights_.erase(weights_.begin());
  }
  times_.push_back(time);
  weights_.push_back(weight);
}

CallSamples CallSamples::latest(int count) const {
  CallSamples latest(static_cast<int>(most_));
  const int taken = std::min(count, this->count());
  latest.times_.assign(times_.end() - taken, times_.end());
  latest.weights_.assign(weights_.end() - taken, weights_.end());
  return latest;
}

Nanoseconds CallSamples::median() const {
  std::vector<Nanoseconds> sorted = times_;
  const auto middle = sorted.begin() + (count() - 1) / 2;
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

Nanoseconds CallSamples::trimmed_mean() const {
  constexpr int calls_per_outlier = 8;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> longest_first;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    longest_first.emplace_back(times_[i], weights_[i]);
  }
  std::ranges::sort(longest_first, std::greater<>());
  int outliers = std::max(1, count() / calls_per_outlier);
  const Nanoseconds all = std::accumulate(weights_.begin(), weights_.end(), Nanoseconds{0});
  const Nanoseconds heaviest = 2 * all / count();  // twice a call's share: weights vary
  Nanoseconds sum = 0;
  int kept = 0;
  for (const auto& [time, weight] : longest_first) {
    if (outliers > 0 && weight <= heaviest) {
      --outliers;
      continue;
    }
    sum += time;
    ++kept;
  }
  return sum / kept;
}

void RecentMean::add(double number) {
  numbers_ = std::min(numbers_ + 1, most_);
  value_ += (number - value_) / numbers_;
}

std::optional<MedianInterval> median_interval(const CallSamples& samples) {
  constexpr double max_outside = 0.05;
  const int n = samples.count();
  double probability = std::ldexp(1.0, -n);  // of exactly k shorter times
  double outside = 0;
  int k = 0;
  for (; 2 * (outside + probability) <= max_outside; ++k) {
    outside += probability;
    probability *= static_cast<double>(n - k) / (k + 1);
  }
  if (k == 0) return {};
  std::vector<Nanoseconds> sorted = samples.times();
  std::ranges::sort(sorted);
  const auto at = static_cast<std::size_t>(k - 1);
  return MedianInterval{sorted[at], sorted[sorted.size() - 1 - at], 1 - 2 * outside};
}

double shorter_score(const CallSamples& a, const CallSamples& b) {
  if (a.count() == 0 || b.count() == 0) return 0;
  std::vector<Nanoseconds> sorted = b.times();
  std::ranges::sort(sorted);
  std::ptrdiff_t halves = 0;  // twice the statistic U
  for (const Nanoseconds of_a : a.times()) {
    const auto equal = std::ranges::equal_range(sorted, of_a);
    halves += 2 * (sorted.end() - equal.end()) + std::ssize(equal);
  }
  const double pairs = static_cast<double>(a.count()) * b.count();
  const double deviation = std::sqrt(pairs * (a.count() + b.count() + 1) / 12);
  constexpr double continuity = 0.5;
  return ((static_cast<double>(halves) - pairs) / 2 - continuity) / deviation;
}

/// Over the calls of all sizes.
Nanoseconds NativeOfSizes::mean() const {
  Nanoseconds sum = 0;
  Nanoseconds calls = 0;
  for (const auto& [size, native] : natives_) {
    if (native.count() == 0) continue;
    sum += native.count() * native.median();
    calls += native.count();
  }
  return std::max<Nanoseconds>(1, sum / calls);
}

SizedTimes NativeOfSizes::add(bool is_native, const SampledTimes& times, SizeClass size) {
  constexpr int min_native_calls = 3;
  CallSamples& natives = natives_[size];
  if (is_native) natives.add(times.after_last);
  if (natives.count() == 0) return {{}, 0, 0, 0, false};
  const Nanoseconds native = std::max<Nanoseconds>(1, natives.median());
  if (natives.count() < min_native_calls) return {{}, 0, native, 0, false};
  if (typical_ == 0) typical_ = mean();
  const double factor = static_cast<double>(typical_) / static_cast<double>(native);
  const auto relative = [factor](Nanoseconds time) {
    return static_cast<Nanoseconds>(factor * static_cast<double>(time));
  };
  return {{relative(times.after_last), relative(times.mean), relative(times.max)},
          std::max<Nanoseconds>(1, typical_ + times.after_last - native),
          native,
          native,
          true};
}

}  // namespace tutti
