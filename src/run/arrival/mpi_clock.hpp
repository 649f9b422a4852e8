/// One clock for all ranks of a communicator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "run/clock.hpp"
#include "run/mpi/owned_comm.hpp"

namespace tutti {

/// Seconds of rank 0's clock at every rank. Ranks on one running system share its monotonic clock,
/// even if their host names differ. Rank 0 compares its clock with that of the first rank of any
/// other system in 30 ping-pongs, one system after the other (ClockOffset), and sends the result to
/// all ranks there. Comparisons are repeated because clocks drift, by tens of microseconds a second
/// at worst (ClockLine).
class MpiClock {
 public:
  /// What a comparison found, in seconds.
  struct Compared {
    double ahead = 0;  ///< of rank 0's clock
    double error = 0;  ///< at rank 0: a bound of the errors of all offsets
  };

  /// Sets `ready` to whether all ranks have a clock: not if the MPI has no communicator left for
  /// some rank. Collective. Returns an MPI error code.
  int synchronise(MPI_Comm comm, bool& ready);
  /// Compares the clocks again if due: 1, 2, 4, .. 64 seconds after the last comparison, or later
  /// if a comparison takes more than 0.1 % of that time. Sets `compared` to the argument for
  /// adopt() if it compared them. Collective. Waits for rank 0, and as compare() if it compares.
  /// Returns an MPI error code.
  int compare_again(std::optional<Compared>& compared);
  /// At rank 0: is a comparison due? False at the others.
  [[nodiscard]] bool is_due() const;
  /// Compares the clocks; sets `compared` to the argument for adopt(). Collective. A rank on
  /// another system than rank 0 waits for rank 0, which waits for the first rank of each. Returns
  /// an MPI error code. O(p) words from rank 0.
  int compare(Compared& compared);
  /// Corrects the clock by the result of compare_again() or compare(), which may run beside now()
  /// and error().
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
  /// Seconds by which this rank's clock is ahead of rank 0's at a time of this rank's clock.
  [[nodiscard]] double offset_at(double seconds) const { return line_.offset_at(seconds); }
  /// A bound of the errors, in seconds, of this rank's prediction at its last comparison and, at
  /// rank 0, of all ranks' offsets, at the others of the first ones.
  [[nodiscard]] double error() const { return std::max(error_, line_.missed()); }

 private:
  /// What a rank does in a comparison. Rank 0 and the ranks on its system share a clock.
  enum class Role : std::uint8_t { shares, answers, learns };

  int find_role(std::uint64_t identity, MPI_Comm comm);
  int measure(Rank other, ClockOffset& measured);
  int answer();
  int send_to_all(double word, const std::vector<Rank>& ranks);

  OwnedComm comm_;  ///< null where the clock is shared
  Rank rank_ = 0;
  Role role_ = Role::shares;
  std::map<std::uint64_t, std::vector<Rank>> systems_;  ///< at rank 0: the ranks of each other one
  ClockLine line_;
  double error_ = 0;
  bool is_shared_ = true;
  double due_ = 0;    ///< when rank 0 compares again
  double pause_ = 1;  ///< seconds
};

}  // namespace tutti
