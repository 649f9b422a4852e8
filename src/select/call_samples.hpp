/// The latest times of calls that ran one candidate, and a rank test between 2 candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// Times are integers, so that all ranks derive the same decision from the same sums.
using Nanoseconds = std::int64_t;

/// The latest 16 times, in the sequence in which they were added.
class CallSamples {
 public:
  static constexpr std::size_t capacity = 16;

  void add(Nanoseconds time);
  void clear() { times_.clear(); }
  [[nodiscard]] int count() const { return static_cast<int>(times_.size()); }
  [[nodiscard]] bool is_full() const { return times_.size() == capacity; }
  /// The lower median; at least 1 time must have been added. O(capacity).
  [[nodiscard]] Nanoseconds median() const;
  [[nodiscard]] const std::vector<Nanoseconds>& times() const { return times_; }

 private:
  std::vector<Nanoseconds> times_;
  std::size_t oldest_ = 0;
};

/// The standard score of the Mann-Whitney test that times of `a` are shorter than those of `b`
/// (Mann & Whitney 1947, normal approximation, ties count half); 0 where one is empty.
/// O(capacity^2).
[[nodiscard]] double shorter_score(const CallSamples& a, const CallSamples& b);

}  // namespace tutti
