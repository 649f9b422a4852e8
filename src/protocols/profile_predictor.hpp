/// What is usual of the arrivals at calls of one kind, and when that has changed.
#pragma once

#include <deque>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The arrivals that calls of one kind go by until they have changed.
struct ArrivalProfile {
  std::vector<double> delays;  ///< seconds behind the first, by rank; empty: nothing is known
  double error = 0;            ///< seconds: what forecasts have been wrong by
  Bytes block = 0;             ///< the mean of the ranks' blocks at irregular calls

  [[nodiscard]] double spread() const;  ///< last less first arrival; 0 where nothing is known
};

/// Turns the forecasts of one call after the other into a profile that changes seldom.
///
/// The profile is the most typical of the last five forecasts: the one nearest to the others, where
/// two are apart by the largest difference for any rank. Where the same ranks are late in each call
/// that shows them, whatever a hiccup in one call looked like; where other ranks are late each time
/// it is one pattern like the others. The first one is made of three. It is replaced when the
/// forecasts have moved away from it
///
///  - by more than a quarter of the spread and, in the mean, half as far again as they are from
///    the most typical one, or
///  - by half in error or by a factor of four in block,
///
/// and never while ranks are expected no further apart than twice the error before and after: what
/// is made of such a profile is the same.
class ProfilePredictor {
 public:
  /// Takes the forecast of a call: arrivals by rank, of which only differences count. True if the
  /// profile is a new one. O(p).
  bool take(std::vector<double> arrivals, double error, Bytes block);
  [[nodiscard]] const ArrivalProfile& profile() const { return profile_; }

 private:
  [[nodiscard]] double mean_distance(const std::vector<double>& delays) const;
  [[nodiscard]] const std::vector<double>& most_typical() const;
  [[nodiscard]] bool has_changed(const ArrivalProfile& now, double scatter) const;

  std::deque<std::vector<double>> last_;
  ArrivalProfile profile_;
};

}  // namespace tutti
