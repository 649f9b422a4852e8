/// Derives an arrival profile from the forecasts of earlier calls, and detects its changes.
#pragma once

#include <deque>
#include <vector>

#include "core/types.hpp"

namespace tutti {

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
/// by more than 1.5 times their distance from the most typical one, but never while the spread
/// before and after is within twice the error: ranks then arrive together as far as is known.
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
