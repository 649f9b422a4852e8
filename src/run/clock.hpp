/// The monotonic clock, and the offsets of other clocks.
#pragma once

#include <time.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace tutti {

[[nodiscard, gnu::hot]] inline double seconds_of(const timespec& time) {
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds since the system started: small enough for a double to hold nanoseconds for months.
[[nodiscard, gnu::hot]] inline double monotonic_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return seconds_of(time);
}

/// Nanoseconds since a time of this clock.
[[nodiscard]] inline std::int64_t nanoseconds_since(double began) {
  return static_cast<std::int64_t>((monotonic_seconds() - began) * 1e9);
}

/// Seconds by which another clock is ahead of this one, from the middle of the fastest of several
/// ping-pongs (Cristian 1989). The error is at most half the time of that ping-pong.
class ClockOffset {
 public:
  /// A ping-pong from `sent` to `received` on this clock; in between the other one read `there`.
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

/// The offset of a clock that drifts, from occasional comparisons: the offset of the latest one,
/// and from the second one on the rate of change since the one before. A comparison less than
/// half a second after the last one does not change the rate.
class ClockLine {
 public:
  static constexpr double min_distance = 0.5;
  /// Takes a comparison: at `now` the clock was ahead by `offset`. Seconds.
  void compare(double now, double offset) {
    missed_ = is_compared_ ? std::abs(offset - offset_at(now)) : 0;
    if (is_compared_ && now - at_ > min_distance) rate_ = (offset - offset_) / (now - at_);
    is_compared_ = true;
    at_ = now;
    offset_ = offset;
  }
  [[nodiscard]] double offset_at(double now) const { return offset_ + rate_ * (now - at_); }
  /// The error of offset_at() at the latest comparison, in seconds; 0 after the first one.
  [[nodiscard]] double missed() const { return missed_; }

 private:
  bool is_compared_ = false;
  double at_ = 0;
  double offset_ = 0;
  double rate_ = 0;
  double missed_ = 0;
};

}  // namespace tutti
