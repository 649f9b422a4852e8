/// One clock for all ranks.
#pragma once

#include <string>

#include "bench/mpi_job.hpp"

namespace tutti::bench {

/// Seconds that mean the same on all ranks. On one node that is the system's monotonic clock; on
/// several, each rank's own with its offset from rank 0's, taken as the middle of the fastest of
/// many ping-pongs (Cristian 1989).
class Clock {
 public:
  /// Collective.
  explicit Clock(const Job& job);

  /// Estimates the offsets anew, as clocks drift; nothing to do on one node. Collective.
  void synchronise(const Job& job);
  [[nodiscard]] double now() const;
  /// Half the fastest ping-pong with the slowest rank, the worst of all comparisons so far, with
  /// its unit: no offset was further off. On rank 0.
  [[nodiscard]] std::string error_text() const;
  [[nodiscard]] std::string method() const;

 private:
  void measure_offset(const Job& job, Rank other);

  bool common_;
  double offset_ = 0;
  double error_ = 0;
};

}  // namespace tutti::bench
