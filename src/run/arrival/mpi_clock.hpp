/// One clock for all ranks of a communicator.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "run/clock.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// Seconds of rank 0's clock at every rank. Ranks on one running system share its monotonic clock,
/// whatever hosts they take themselves for; the clock of any other is compared with rank 0's in 30
/// ping-pongs, one rank after the other (ClockOffset), and again later, as clocks drift: by tens of
/// microseconds in a second at worst (ClockLine).
class MpiClock {
 public:
  /// Collective. Returns an MPI error code.
  int synchronise(MPI_Comm comm);
  /// Compares the clocks once more if it is time: 1, 2, 4, .. 64 seconds after the time before, or
  /// later where a comparison takes more than a thousandth of that.
  /// Sets `ahead` to what adopt() takes, if they were compared. Collective; waits for rank 0, and
  /// where it compares for all. Returns an MPI error code.
  int compare_again(std::optional<double>& ahead);
  /// From now on the clock goes by what compare_again() found.
  void adopt(double ahead) { line_.compare(monotonic_seconds(), ahead); }
  /// No clocks are compared any more. Collective.
  void close() { comm_.free(); }

  /// Alike on all ranks.
  [[nodiscard]] bool is_shared() const { return is_shared_; }
  [[nodiscard]] double now() const {
    const double own = monotonic_seconds();
    return own - line_.offset_at(own);
  }
  /// How far this rank's clock is ahead of rank 0's. Seconds.
  [[nodiscard]] double offset() const { return line_.offset_at(monotonic_seconds()); }
  /// No rank's offset was further off when it was first measured, nor this rank's when it was last.
  [[nodiscard]] double error() const { return std::max(error_, line_.missed()); }
  /// What was done first, in one line; alike on all ranks.
  [[nodiscard]] std::string method() const;

 private:
  int compare_all(double& ahead);
  int compare(int other, double& ahead);

  OwnedComm comm_;  ///< null where the clock is shared
  int rank_ = 0;
  std::vector<int> others_;  ///< at rank 0: whose clocks are others; there: 0
  ClockLine line_;
  double error_ = 0;
  bool is_shared_ = true;
  double due_ = 0;    ///< rank 0 compares again then
  double pause_ = 1;  ///< seconds
};

}  // namespace tutti
