/// How far ranks are from one another, in seconds.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// Two ranks; of a message the sender first.
using RankPair = std::pair<Rank, Rank>;

/// The time of a message of some size from each rank to each other one. It may be asymmetric.
class Distances {
 public:
  /// All ranks at one place.
  explicit Distances(int p)
      : p_(p), seconds_(static_cast<std::size_t>(p) * static_cast<std::size_t>(p), 0) {}

  /// Of p * p values, row by row: what rank i needs to reach rank j is at i * p + j. The error
  /// names a value that is no time: off the diagonal times are finite and above 0, on it 0.
  [[nodiscard]] static Result<Distances> of(int p, std::vector<double> seconds);

  [[nodiscard]] int size() const { return p_; }
  [[nodiscard]] double operator()(Rank from, Rank to) const { return seconds_[at(from, to)]; }
  void set(Rank from, Rank to, double seconds) { seconds_[at(from, to)] = seconds; }
  friend bool operator==(const Distances&, const Distances&) = default;

 private:
  [[nodiscard]] std::size_t at(Rank from, Rank to) const {
    assert(0 <= from && from < p_ && 0 <= to && to < p_);
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(p_) +
           static_cast<std::size_t>(to);
  }

  int p_;
  std::vector<double> seconds_;
};

/// Distances that were measured with messages of so many bytes.
struct MeasuredDistances {
  Bytes bytes = 1;
  Distances distances;
  friend bool operator==(const MeasuredDistances&, const MeasuredDistances&) = default;
};

/// The time of messages of any size between each pair of ranks: Hockney's latency and time per
/// byte, each pair its own.
class Links {
 public:
  /// From one measurement: a pair is as many times slower than latency + per_byte * s as it was
  /// measured to be, at every size.
  Links(const MeasuredDistances& measured, double latency, double per_byte);
  /// From two measurements of the same ranks, `large` with more bytes: the line through both. A
  /// pair whose larger message was no slower takes no time per byte.
  Links(const MeasuredDistances& small, const MeasuredDistances& large);

  [[nodiscard]] int size() const { return latency_.size(); }
  [[nodiscard]] double latency(Rank from, Rank to) const { return latency_(from, to); }
  [[nodiscard]] double per_byte(Rank from, Rank to) const { return per_byte_(from, to); }
  [[nodiscard]] double seconds(Rank from, Rank to, Bytes bytes) const {
    return latency_(from, to) + per_byte_(from, to) * static_cast<double>(bytes);
  }
  /// The distances at one size. O(p^2).
  [[nodiscard]] Distances at(Bytes bytes) const;

 private:
  Distances latency_;
  Distances per_byte_;
};

}  // namespace tutti
