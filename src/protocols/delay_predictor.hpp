/// Predicts each rank's delay behind the first one from earlier calls.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// The earliest known arrival; infinity if none is known. NaN means unknown. O(p).
[[nodiscard]] double first_of(std::span<const double> arrivals);
/// The number of known arrivals. O(p).
[[nodiscard]] std::size_t known_of(std::span<const double> arrivals);

/// Exponentially weighted means of the ranks' delays, in which the latest call has weight 0.5.
/// Predicted delays stand in for missing estimates.
class DelayPredictor {
 public:
  explicit DelayPredictor(int p);
  /// Takes the arrivals at a call by rank, in seconds; only differences count, NaN means unknown.
  /// Does nothing and returns false if fewer than 2 are known. O(p).
  bool take(std::span<const double> arrivals);
  /// Seconds behind the first rank, by rank; NaN means unknown.
  [[nodiscard]] const std::vector<double>& delays() const { return delays_; }

 private:
  std::vector<double> delays_;
};

}  // namespace tutti
