/// Times of calls whose sizes differ, made comparable.
#pragma once

#include <map>

#include "core/size_class.hpp"
#include "select/call_samples.hpp"

namespace tutti {

/// The elapsed times of one call over its ranks.
struct SampledTimes {
  Nanoseconds after_last = 0;  ///< the criterion: the time after the last arrival
  Nanoseconds mean = 0;        ///< of the elapsed times; the criterion unless that is the shortest
  Nanoseconds max = 0;
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
