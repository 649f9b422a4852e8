/// What an agreement of a tuner takes, of which this rank sees little.
#pragma once

#include <algorithm>
#include <cstdint>

#include "select/call_samples.hpp"

namespace tutti {

/// What the reduction of an agreement takes at this rank.
///
/// A reduction that overlaps with calls makes these longer, which no rank can tell from other
/// causes. What it takes by itself is measured: the 1st, 2nd, 4th, 8th, .. one waits for its end.
/// There the shortest time over the ranks is that after the last arrival, so it is enough that each
/// rank is charged with its own. O(1).
class AgreementTime {
 public:
  /// Begins a reduction. Should it wait for its end? Alike on all ranks.
  [[nodiscard]] bool begin() {
    ++begun_;
    return (begun_ & (begun_ - 1)) == 0;
  }
  /// Adds what one that waited has taken.
  void add(Nanoseconds elapsed) {
    before_ = latest_;
    latest_ = elapsed;
  }
  /// The lesser of the latest two: the first one may have set up connections. 0 before any.
  [[nodiscard]] Nanoseconds expected() const {
    return before_ > 0 ? std::min(before_, latest_) : latest_;
  }

 private:
  std::uint64_t begun_ = 0;
  Nanoseconds before_ = 0;
  Nanoseconds latest_ = 0;
};

}  // namespace tutti
