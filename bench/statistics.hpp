/// What is said of repeated measurements.
#pragma once

#include <vector>

namespace tutti::bench {

/// From `low` to `high`; infinite ends where there are too few samples to say.
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

/// A quotient of two medians.
struct Ratio {
  double value = 0;
  Interval interval;  ///< holds the true quotient with the confidence that was asked for

  [[nodiscard]] bool below_one() const { return interval.high < 1; }
  [[nodiscard]] bool above_one() const { return interval.low > 1; }
};

/// The q-quantile of ascending samples, 0 <= q <= 1, linear between the neighbouring ones (type 7
/// of Hyndman and Fan 1996). At least one sample.
[[nodiscard]] double quantile(const std::vector<double>& ascending, double q);

/// The order statistics that hold the median of what the ascending samples were drawn from with at
/// least this confidence, whatever its distribution: ranks k and n + 1 - k for the largest k with
/// P(Binomial(n, 1/2) < k) <= (1 - confidence) / 2. From minus to plus infinity where no k does.
[[nodiscard]] Interval median_interval(const std::vector<double>& ascending, double confidence);

/// Needs at least one sample, in any sequence. O(n log n).
[[nodiscard]] Summary summarize(std::vector<double> samples);

/// median(numerator) / median(denominator) of positive samples. The interval divides the ends of
/// the two medians' own intervals, each with half of the error allowed (Bonferroni), so it needs
/// no assumption but independence of the repetitions.
[[nodiscard]] Ratio ratio_of_medians(std::vector<double> numerator, std::vector<double> denominator,
                                     double confidence = 0.95);

}  // namespace tutti::bench
