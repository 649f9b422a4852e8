/// One clock for all ranks of a communicator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/clock.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// Seconds of rank 0's clock at every rank. Ranks on one running system share its monotonic clock,
/// even if their host names differ. The first rank of any other system compares its clock with rank
/// 0's in 30 ping-pongs, one system after the other (ClockOffset), and tells the others there.
/// Comparisons are repeated because clocks drift, by tens of microseconds a second at worst
/// (ClockLine).
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
  /// At rank 0: is a comparison due? False at the others.
  [[nodiscard]] bool is_due() const;
  /// Compares the clocks; sets `compared` to the argument for adopt(). Collective. Ranks on rank
  /// 0's system but itself do not wait. Returns an MPI error code.
  int compare(Compared& compared);
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
  static constexpr Rank none = -1;
  /// The ranks of a system other than rank 0's are a chain, along which rank 0's words go.
  struct Place {
    Rank from = none;  ///< the rank before; rank 0 for the first one, none on rank 0's system
    Rank to = none;
  };

  int find_place(std::uint64_t identity, bool& is_shared, MPI_Comm comm);
  int pass_on(double& word);
  int exchange(Rank other, Compared& compared);

  OwnedComm comm_;  ///< null where the clock is shared
  Rank rank_ = 0;
  Place place_;
  std::vector<Rank> first_ones_;  ///< at rank 0: the first rank of each other system
  ClockLine line_;
  double error_ = 0;
  bool is_shared_ = true;
  double due_ = 0;    ///< when rank 0 compares again
  double pause_ = 1;  ///< seconds
};

}  // namespace tutti
