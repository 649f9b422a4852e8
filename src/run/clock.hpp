/// Reading the clock, and telling how far another machine's is off.
#pragma once

#include <time.h>

#include <cmath>
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

/// How far a clock is ahead that has a rate of its own, from comparisons now and then: what the
/// latest one found, and from the second on the rate at which it changed since the one before.
class ClockLine {
 public:
  /// At `now` the clock was ahead by `offset`. Seconds.
  void compare(double now, double offset) {
    missed_ = is_compared_ ? std::abs(offset - offset_at(now)) : 0;
    if (is_compared_ && now > at_) rate_ = (offset - offset_) / (now - at_);
    is_compared_ = true;
    at_ = now;
    offset_ = offset;
  }
  [[nodiscard]] double offset_at(double now) const { return offset_ + rate_ * (now - at_); }
  /// By how much the line was off when the clocks were compared last; 0 as long as that was once.
  [[nodiscard]] double missed() const { return missed_; }

 private:
  bool is_compared_ = false;
  double at_ = 0;
  double offset_ = 0;
  double rate_ = 0;
  double missed_ = 0;
};

}  // namespace tutti
