/// What several processes saw, joined: their logs add up pairwise, in any sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "report/call_log.hpp"
#include "report/pattern.hpp"

namespace tutti {

/// Where a process runs: ranks of one node share its monotonic clock, ranks of two do not.
using Node = int;

/// Values of which the quantiles matter, in bounded memory.
class Quantiles {
 public:
  static constexpr std::size_t values_at_most = 65536;

  void add(double value);
  void add(const Quantiles& other);
  [[nodiscard]] bool is_empty() const { return values_.empty(); }
  /// Of all that was added; approximate once there were more than `values_at_most`. There must
  /// be a value.
  [[nodiscard]] double median() const;
  /// Exact. There must be a value.
  [[nodiscard]] double max() const { return max_; }

  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// As it was with these values and this maximum.
  static Quantiles restored(std::vector<double> values, double max);

 private:
  void thin_out();

  std::vector<double> values_;
  double max_ = -std::numeric_limits<double>::infinity();
};

/// Calls of one collective from one place under one decision, seen from their roots.
struct SiteCalls {
  Collective collective = Collective::gather;
  std::string site;
  std::string decision;  ///< "algorithm: why"

  std::int64_t calls = 0;
  Bytes bytes = 0;
  double irregularity_sum = 0;
  double irregularity_max = 0;
  double root_seconds = 0;  ///< between the root's arrivals and exits

  std::set<std::string> other_sites;  ///< where ranks other than the root made these calls
  std::int64_t measured = 0;          ///< calls of which the times of all ranks are known
  double elapsed_sum = 0;             ///< of the mean over ranks of exit - arrival
  std::int64_t timed = 0;             ///< measured calls with all ranks on one clock
  double run_sum = 0;                 ///< of max exit - min arrival
  double run_max = 0;
  double moving_sum = 0;  ///< of max exit - max arrival
  Quantiles spread;       ///< max arrival - min arrival

  std::int64_t split = 0;  ///< timed calls whose single ranks' times are known
  Parts parts;             ///< sums over these calls of means over ranks
  int patterns = 0;        ///< communicators that these calls are on
  ArrivalPattern pattern;  ///< of the communicator whose ranks waited longest
};

/// When one rank was in a call.
struct RankTimes {
  Rank rank = 0;
  Rank world = 0;  ///< the same in MPI_COMM_WORLD
  double arrival = 0;
  double exit = 0;
  float ahead = 0;  ///< when it was expected less its arrival; NaN where nothing was expected
  float progress_hint = 0;  ///< from its progress_hint to its arrival; NaN without one
};

/// A call of which some ranks' times are known.
struct PendingCall {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// Of one track: with many ranks, single ranks' times are kept of fewer calls. 4 MiB.
  static constexpr std::size_t times_at_most = 131072;

  std::uint64_t call = 0;
  int ranks = 0;  ///< that are joined here
  double first_arrival = 0;
  double last_arrival = 0;
  double last_exit = 0;
  double elapsed_sum = 0;
  std::uint32_t at = none;            ///< the root's place: index into Summary::calls
  std::vector<std::uint32_t> others;  ///< other ranks' places: indexes into Summary::sites
  Rank root = no_rank;
  std::vector<RankTimes> times;  ///< of the ranks that are joined here, or none
};

/// The calls of one collective on one communicator that wait for more ranks, by number.
struct PendingTrack {
  static constexpr Node several = -1;

  std::uint64_t communicator = 0;
  Collective collective = Collective::gather;
  int p = 1;
  Node node = several;
  std::vector<PendingCall> calls;
};

/// How far a process's clock is ahead of the one that all share. Seconds of the process's clock.
struct ClockReading {
  double time = 0;  ///< when it was measured
  double ahead = 0;
  double error = 0;  ///< at most
};

/// What is known of a process's clock: in between two readings it is taken to drift evenly, and
/// with one reading not at all.
struct ClockDrift {
  std::optional<ClockReading> first;
  ClockReading last;

  /// A time of this process on the common clock.
  [[nodiscard]] double common(double time) const;
  /// Of either reading, at most.
  [[nodiscard]] double error() const;
};

/// A call leaves the pending ones for the statistics of its place as soon as all its ranks are
/// there, so that what is kept is bounded, whatever the number of processes: 4 MiB of single ranks'
/// times for each track of a communicator that is still incomplete, 2 MiB for each place.
struct Summary {
  std::string destination;  ///< of the report, if any process knows one
  int ranks = 0;            ///< processes joined here
  int nodes = 0;
  double clock_error = 0;   ///< of times of several nodes, at most; seconds
  bool clock_drift = true;  ///< clocks were compared twice, so that drift is taken off
  double seconds_sum = 0;   ///< that processes spent in the calls
  double seconds_max = 0;   ///< that one process spent in them
  std::vector<SiteCalls> calls;
  std::vector<std::string> sites;
  std::vector<PendingTrack> tracks;
};

/// How to print a return address.
using NameSite = std::function<std::string(const void*)>;

/// One process among those of MPI_COMM_WORLD.
struct ProcessLocation {
  Rank rank = 0;
  Node node = 0;           ///< alike for processes whose times are on one clock, be it by `clock`
  bool is_leader = false;  ///< one of each node is
  ClockDrift clock;
};

/// One process's log.
[[nodiscard]] Summary summarise(const CallLog& log, const ProcessLocation& place,
                                const NameSite& name_site);

/// Adds what other processes saw. The time is that of sorting both.
void join(Summary& summary, Summary&& other);

}  // namespace tutti
