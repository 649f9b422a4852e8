/// One clock for all ranks of a communicator.
#pragma once

#include <string>

#include "run/clock.hpp"
#include "run/mpi/functions.hpp"

namespace tutti {

/// Seconds of rank 0's clock at every rank. Ranks on one running system share its monotonic clock,
/// whatever hosts they take themselves for; the clock of any other is compared with rank 0's in 30
/// ping-pongs, one rank after the other (ClockOffset). What drifts after that, tens of microseconds
/// in a second at worst and far less where clocks are disciplined, adds to the error.
class MpiClock {
 public:
  /// Collective. Returns an MPI error code.
  int synchronise(MPI_Comm comm);

  [[nodiscard]] double now() const { return monotonic_seconds() - offset_; }
  /// How far this rank's clock is ahead of rank 0's. Seconds.
  [[nodiscard]] double offset() const { return offset_; }
  /// No rank's offset was further off when it was measured. Seconds; alike on all ranks.
  [[nodiscard]] double error() const { return error_; }
  /// What was done, in one line; alike on all ranks.
  [[nodiscard]] std::string method() const;

 private:
  int compare(MPI_Comm comm, int rank, int other);

  double offset_ = 0;
  double error_ = 0;
  bool is_shared_ = true;
};

}  // namespace tutti
