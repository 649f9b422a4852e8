/// The latest times of calls that ran one candidate, a rank test between 2 candidates, and times of
/// calls whose sizes differ, made comparable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Times are integers, so that all ranks derive the same decision from the same sums.
using Nanoseconds = std::int64_t;

/// Does `time` exceed `factor` times the other one?
[[nodiscard]] inline bool exceeds(Nanoseconds time, double factor, Nanoseconds other) {
  return static_cast<double>(time) > factor * static_cast<double>(other);
}

/// The latest times, in the sequence in which they were added.
class CallSamples {
 public:
  /// So many that the machine may have changed since the first of them by little only.
  static constexpr int few = 16;

  /// Of `most` latest ones, at least 1.
  explicit CallSamples(int most = few) : most_(static_cast<std::size_t>(most)) {}
  /// `weight`: how much of all calls' time such calls take. O(most).
  void add(Nanoseconds time, Nanoseconds weight = 1);
  void clear() {
    times_.clear();
    weights_.clear();
  }
  [[nodiscard]] int count() const { return static_cast<int>(times_.size()); }
  /// The lower median; at least 1 time must have been added. O(n).
  [[nodiscard]] Nanoseconds median() const;
  /// The mean without the longest of every 8 times, at least 1, which may be noise; but none that
  /// has more than twice its share of the weight: rare calls may take most of the time. At least 2
  /// must have been added. It shows what a median hides: calls of which some take much longer. O(n
  /// log n).
  [[nodiscard]] Nanoseconds trimmed_mean() const;
  [[nodiscard]] const std::vector<Nanoseconds>& times() const { return times_; }
  /// The `count` times added last, or all if there are fewer. O(n).
  [[nodiscard]] CallSamples latest(int count) const;

 private:
  std::size_t most_;
  std::vector<Nanoseconds> times_;
  std::vector<Nanoseconds> weights_;  ///< of the same calls
};

/// The mean of many latest numbers. Rare large ones count, which few latest ones may not hold.
class RecentMean {
 public:
  static constexpr int min_numbers = 8;

  /// Of some `most` latest ones. Begins as if `numbers` of them had the value.
  explicit RecentMean(int most, double value = 0, int numbers = 0)
      : most_(most), value_(value), numbers_(numbers) {}
  void add(double number);
  /// Were there enough numbers?
  [[nodiscard]] bool is_known() const { return numbers_ >= min_numbers; }
  [[nodiscard]] double value() const { return value_; }

 private:
  int most_;
  double value_;
  int numbers_;
};

/// An interval that holds the median of the distribution of times.
struct MedianInterval {
  Nanoseconds least = 0;
  Nanoseconds most = 0;
  double confidence = 0;  ///< the probability that it does, for independent calls
};

/// The narrowest interval between the k-th shortest and the k-th longest time with a confidence of
/// at least 95 %; none for fewer than 6 times. It assumes no distribution: the confidence is
/// 1 - 2 P(B < k), with B binomial(n, 1/2) (David & Nagaraja 2003, Order Statistics, 7.1). O(n log
/// n).
[[nodiscard]] std::optional<MedianInterval> median_interval(const CallSamples& samples);

/// The standard score of the Mann-Whitney test that times of `a` are shorter than those of `b`
/// (Mann & Whitney 1947, ties count half); 0 where one is empty. The normal approximation has its
/// correction for continuity: without it 4 calls against 4 pass at 2.5 % with a chance of 2.9 %.
/// O(n log n).
[[nodiscard]] double shorter_score(const CallSamples& a, const CallSamples& b);

/// The elapsed times of one call over its ranks.
struct SampledTimes {
  Nanoseconds after_last = 0;  ///< the criterion: the time after the last arrival
  Nanoseconds mean = 0;        ///< of the elapsed times; the criterion unless that is the shortest
  Nanoseconds max = 0;
};

/// What an explored call took beyond the MPI's own. Negative: it gained.
struct CallLoss {
  Nanoseconds beyond_mean = 0;  ///< which exceeds the median; a gain counts from the median
  Nanoseconds beyond_median = 0;
};

/// The times of a call as those of a call of typical size.
struct SizedTimes {
  SampledTimes relative;     ///< multiplied: in units of what the MPI's own takes for its size
  Nanoseconds absolute = 0;  ///< the criterion, shifted: what the call saves stays as it is
  Nanoseconds native = 0;    ///< the MPI's own criterion for the size; 0: unknown
  Nanoseconds weight = 1;    ///< how much the call counts among calls of all sizes
  bool is_known = true;      ///< else the call shows nothing but what the MPI's own takes
};

/// What the MPI's own takes for calls of each size, by its latest 16.
class NativeOfSizes {
 public:
  /// Adds a call of a size. The first 2 of the MPI's own of each size only show what it takes.
  /// O(number of sizes) once, then O(1).
  SizedTimes add(bool is_native, const SampledTimes& times, SizeClass size);
  /// An earlier run's time of the MPI's own stands for all sizes.
  void start_from(Nanoseconds native) { typical_ = native; }

 private:
  [[nodiscard]] Nanoseconds mean() const;

  std::map<SizeClass, CallSamples> natives_;
  Nanoseconds typical_ = 0;  ///< what stands for all sizes; 0: not known yet
};

}  // namespace tutti
