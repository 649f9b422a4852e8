/// How late each rank usually is.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tutti {

/// The first of those that are known; infinity where none is, NaN being not known. O(p).
[[nodiscard]] double first_of(std::span<const double> arrivals);
/// How many are known. O(p).
[[nodiscard]] std::size_t known_of(std::span<const double> arrivals);

/// The rule by which missing estimates are made up: what a rank was behind the first at earlier
/// calls, in the exponentially weighted mean in which the latest call counts a half.
class DelayPredictor {
 public:
  explicit DelayPredictor(int p);
  /// Takes the arrivals at a call by rank, in seconds of which only differences count; NaN where
  /// nothing is known. One that is known alone says nothing. True if more were. O(p).
  bool take(std::span<const double> arrivals);
  /// Seconds behind the first by rank; NaN where nothing is known.
  [[nodiscard]] const std::vector<double>& delays() const { return delays_; }

 private:
  std::vector<double> delays_;
};

}  // namespace tutti
