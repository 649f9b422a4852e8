/// Units of calls of several sizes.
#include "select/sized_times.hpp"

#include <algorithm>

namespace tutti {

namespace {

constexpr int min_native_calls = 3;

}  // namespace

/// Over the calls of all sizes.
Nanoseconds NativeOfSizes::mean() const {
  Nanoseconds sum = 0;
  Nanoseconds calls = 0;
  for (const auto& [size, native] : natives_) {
    sum += native.count() * native.median();
    calls += native.count();
  }
  return std::max<Nanoseconds>(1, sum / calls);
}

SizedTimes NativeOfSizes::add(bool is_native, const SampledTimes& times, SizeClass size) {
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
