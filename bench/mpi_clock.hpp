/// One clock for all ranks.
#pragma once

#include <string>

#include "bench/mpi_job.hpp"

namespace tutti::bench {

/// A global clock in seconds. On one node it is the system's monotonic clock. On several nodes each
/// rank adds the offset of rank 0's clock, taken at the middle of the fastest of many ping-pongs
/// (Cristian 1989).
class Clock {
 public:
  /// Collective.
  explicit Clock(const Job& job);

  /// Estimates the offsets again, because clocks drift; returns by how much this rank's has grown
  /// since the last time, in seconds: 0 on one node. Collective.
  double synchronise(const Job& job);
  [[nodiscard]] double now() const;
  /// The bound on the error of all offsets so far, with its unit: half the fastest ping-pong of the
  /// slowest rank. On rank 0.
  [[nodiscard]] std::string error_text() const;
  [[nodiscard]] std::string method() const;

 private:
  void measure_offset(const Job& job, Rank other);

  bool common_;
  double offset_ = 0;
  double error_ = 0;
};

}  // namespace tutti::bench
