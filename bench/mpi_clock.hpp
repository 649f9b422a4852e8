/// One clock for all ranks.
#pragma once

#include <string>

#include "bench/mpi_job.hpp"

namespace tutti::bench {

/// How far one rank's clock has drifted between two measurements of its offset.
struct Drift {
  double growth = 0;  ///< of the offset, in seconds
  double begin = 0;   ///< when the offset was measured first; each rank has its own time
  double end = 0;     ///< when it was measured again

  /// What the clock should have shown when it showed `time`, if it drifts evenly.
  [[nodiscard]] double corrected(double time) const {
    return growth == 0 ? time : time - growth * (time - begin) / (end - begin);
  }
};

/// A global clock in seconds. On one node it is the system's monotonic clock. On several nodes each
/// rank adds the offset of rank 0's clock, taken at the middle of the fastest of many ping-pongs
/// (Cristian 1989).
class Clock {
 public:
  /// Collective.
  explicit Clock(const Job& job);

  /// Estimates the offsets again, because clocks drift. Returns how far this rank's clock has
  /// drifted since the last time, 0 on one node. Collective.
  Drift synchronise(const Job& job);
  [[nodiscard]] double now() const;
  /// The bound on the error of all offsets so far, with its unit: half the fastest ping-pong of the
  /// slowest rank. On rank 0.
  [[nodiscard]] std::string error_text() const;
  [[nodiscard]] std::string method() const;

 private:
  void measure_offset(const Job& job, Rank other);

  bool common_;
  double offset_ = 0;
  double measured_at_ =
      0;  ///< by this rank's own clock; 0 at rank 0, whose clock is the common one
  double error_ = 0;
};

}  // namespace tutti::bench
