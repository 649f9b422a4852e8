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
/// even if their host names differ. Any other clock is compared with rank 0's in 30 ping-pongs, one
/// rank after the other (ClockOffset). Comparisons are repeated because clocks drift, by tens of
/// microseconds a second at worst (ClockLine).
class MpiClock {
 public:
  /// What a comparison found, in seconds.
  struct Compared {
    double ahead = 0;  ///< of rank 0's clock
    double error = 0;  ///< at rank 0: a bound of the errors of all offsets
  };

  /// Collective. Returns an MPI error code.
  int synchronise(MPI_Comm comm);
  /// Compares the clocks again if due: 1, 2, 4, .. 64 seconds after the last comparison, or later
  /// if a comparison takes more than 0.1 % of that time. Sets `compared` to the argument for
  /// adopt() if it compared them. Collective. Waits for rank 0, and for all ranks if it compares.
  /// Returns an MPI error code.
  int compare_again(std::optional<Compared>& compared);
  /// Corrects the clock by the result of compare_again(), which may run beside now() and error().
  void adopt(const Compared& compared) {
    line_.compare(monotonic_seconds(), compared.ahead);
    error_ = std::max(error_, compared.error);
  }
  /// Ends the comparisons. Collective.
  void close() { comm_.free(); }

  /// Alike on all ranks.
  [[nodiscard]] bool is_shared() const { return is_shared_; }
  [[nodiscard]] double now() const {
    const double own = monotonic_seconds();
    return own - line_.offset_at(own);
  }
  /// Seconds by which this rank's clock is ahead of rank 0's.
  [[nodiscard]] double offset() const { return line_.offset_at(monotonic_seconds()); }
  /// A bound of the errors, in seconds, of all ranks' first offsets and of this rank's prediction
  /// at its last comparison.
  [[nodiscard]] double error() const { return std::max(error_, line_.missed()); }
  /// The method of the first comparison, in one line; alike on all ranks.
  [[nodiscard]] std::string method() const;

 private:
  int compare_all(Compared& compared);
  int compare(int other, Compared& compared);

  OwnedComm comm_;  ///< null where the clock is shared
  int rank_ = 0;
  std::vector<int> others_;  ///< ranks to compare with: at rank 0 those of other clocks, there 0
  ClockLine line_;
  double error_ = 0;
  bool is_shared_ = true;
  double due_ = 0;    ///< when rank 0 compares again
  double pause_ = 1;  ///< seconds
};

}  // namespace tutti
