/// Reading the clock, and telling how far another machine's is off.
#pragma once

#include <time.h>

#include <limits>

namespace tutti {

/// Seconds since the system started: small enough for a double to hold nanoseconds for months.
[[nodiscard]] inline double monotonic_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// How far another clock is ahead of this one: the middle of the fastest of several ping-pongs
/// (Cristian 1989). The error is at most half of that ping-pong, at the time it was measured.
class ClockOffset {
 public:
  /// A ping-pong between `sent` and `received` here, for which the other read `there` in between.
  void add(double sent, double there, double received) {
    if (received - sent >= fastest_) return;
    fastest_ = received - sent;
    offset_ = there - (sent + received) / 2;
  }
  [[nodiscard]] double offset() const { return offset_; }
  [[nodiscard]] double error() const { return fastest_ / 2; }

 private:
  double fastest_ = std::numeric_limits<double>::infinity();
  double offset_ = 0;
};

}  // namespace tutti
