/// Predictions from earlier calls: each rank's delay, the errors of its forecasts, and the arrival
/// profile of all ranks.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "core/types.hpp"

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

/// The running mean of one rank's forecast errors. A call has weight 0.25 and counts for at most 3
/// times the mean before it: an outlier raises the mean by 50 %, a lasting change shows within a
/// few calls. O(1).
class ForecastError {
 public:
  void add(double seconds);
  [[nodiscard]] double mean() const { return mean_; }

 private:
  double mean_ = std::numeric_limits<double>::quiet_NaN();
};

/// The delays that all ranks expect at calls after one collective, until the profile changes.
struct ArrivalProfile {
  std::vector<double> delays;  ///< seconds behind the first rank, by rank; empty: unknown
  double error = 0;            ///< seconds: mean forecast error of the worst rank

  [[nodiscard]] double spread() const;  ///< last minus first arrival; 0 if unknown
};

/// Turns the forecasts of successive calls into a profile that changes seldom.
///
/// The profile is the most typical of the last 5 forecasts: the one with the smallest mean distance
/// to the others. The distance of two forecasts is the largest difference for any rank. If the same
/// ranks are late in each call the profile shows them, and ignores an outlier in one call. If other
/// ranks are late each time, it is one such pattern. The first profile needs 3 forecasts. A new one
/// replaces it if the forecasts are away from it, in the mean, by more than 25 % of the spread and
/// by more than 1.5 times their distance from the most typical one.
///
/// Ranks arrive together as far as is known while the spread is at most twice the error, or 10 us.
/// A profile of such ranks stays until the spread exceeds 3 times the error (hysteresis), or 10 us,
/// and changes then; one of other ranks changes once they arrive together.
class ProfilePredictor {
 public:
  /// Takes the forecast of a call: arrivals by rank, of which only differences count. True if the
  /// profile changed. O(p).
  bool take(std::vector<double> arrivals, double error);
  [[nodiscard]] const ArrivalProfile& profile() const { return profile_; }

 private:
  [[nodiscard]] double mean_distance(const std::vector<double>& delays) const;
  [[nodiscard]] const std::vector<double>& most_typical() const;
  [[nodiscard]] bool has_changed(const ArrivalProfile& now, double scatter) const;

  std::deque<std::vector<double>> last_;
  ArrivalProfile profile_;
};

}  // namespace tutti
