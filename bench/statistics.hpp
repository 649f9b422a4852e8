/// Statistics of repeated measurements.
#pragma once

#include <vector>

namespace tutti::bench {

/// A confidence interval; its ends are infinite if there are too few samples.
struct Interval {
  double low = 0;
  double high = 0;
};

struct Summary {
  int count = 0;
  double mean = 0;
  double least = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double most = 0;
};

/// A ratio of two medians.
struct Ratio {
  double value = 0;
  Interval interval;  ///< contains the true ratio with the requested confidence

  [[nodiscard]] bool below_one() const { return interval.high < 1; }
  [[nodiscard]] bool above_one() const { return interval.low > 1; }
};

/// The q-quantile of ascending samples, 0 <= q <= 1, linear between the neighbouring ones (type 7
/// of Hyndman and Fan 1996). At least one sample.
[[nodiscard]] double quantile(const std::vector<double>& ascending, double q);

/// The confidence interval of the median of any distribution, from ascending samples: the order
/// statistics k and n + 1 - k for the largest k with
/// P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2. Infinite if there is no such k.
[[nodiscard]] Interval median_interval(const std::vector<double>& ascending, double confidence);

/// Needs at least one sample, in any order. O(n log n).
[[nodiscard]] Summary summarize(std::vector<double> samples);

/// median(numerator) / median(denominator) of positive samples. The interval divides the ends of
/// the two medians' intervals, each with half of the permitted error (Bonferroni). Its only
/// assumption is that repetitions are independent.
[[nodiscard]] Ratio ratio_of_medians(std::vector<double> numerator, std::vector<double> denominator,
                                     double confidence = 0.95);

}  // namespace tutti::bench
