/// The joined logs of several processes; they are joined pairwise, in any sequence.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/types.hpp"
#include "report/call_log.hpp"
#include "report/pattern.hpp"

namespace tutti {

/// The node of a process. Ranks of one node share a monotonic clock.
using Node = int;

/// Values for quantiles, in bounded memory: of many, those whose key is at most the limit, so that
/// all count alike, in whatever sequence they come.
struct Quantiles {
  static constexpr std::size_t values_at_most = 32768;
  struct Value {
    double value = 0;
    std::uint64_t key = 0;  ///< evenly distributed, and unrelated to the value
  };

  std::vector<Value> values;
  double max = -std::numeric_limits<double>::infinity();  ///< exact
  std::uint64_t limit = ~std::uint64_t{0};

  void add(const Quantiles& more);
  /// The median of all added values; approximate after more than `values_at_most`. Requires a
  /// value.
  [[nodiscard]] double median() const;
};

/// The calls of one collective from one call site of the root with one decision.
struct SiteCalls : CallTotals {
  Collective collective = Collective::gather;
  std::string site;
  std::string decision;  ///< "algorithm: why"

  std::vector<std::string> other_sites = {};  ///< the call sites of other ranks
  std::int64_t measured = 0;                  ///< calls with the times of all ranks
  double elapsed_sum = 0;                     ///< of the mean over ranks of exit - arrival
  std::int64_t timed = 0;                     ///< measured calls with all ranks on one clock
  double run_sum = 0;                         ///< of max exit - min arrival
  double run_max = 0;
  double moving_sum = 0;  ///< of max exit - max arrival
  Quantiles spread = {};  ///< max arrival - min arrival

  std::int64_t split = 0;       ///< timed calls with the times of single ranks
  Parts parts = {};             ///< sums over these calls of means over ranks
  int patterns = 0;             ///< number of communicators of these calls
  ArrivalPattern pattern = {};  ///< of the communicator whose ranks waited longest
};

/// The times of one rank in a call.
struct RankTimes {
  Rank rank = 0;
  Rank world = 0;  ///< the same in MPI_COMM_WORLD
  double arrival = 0;
  double exit = 0;
  float ahead = 0;          ///< expected arrival minus arrival; NaN without an expectation
  float progress_hint = 0;  ///< from its progress hint to its arrival; NaN without a hint
};

/// A call with the times of some of its ranks.
struct PendingCall {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  /// The maximum of RankTimes in one track, 4 MiB. With many ranks, fewer calls have them.
  static constexpr std::size_t times_at_most = 131072;

  std::uint64_t call = 0;
  int ranks = 0;  ///< number of ranks joined here
  double first_arrival = 0;
  double last_arrival = 0;
  double last_exit = 0;
  double elapsed_sum = 0;
  std::uint32_t at = none;            ///< the root's call site: index into Summary::calls
  std::vector<std::uint32_t> others;  ///< other ranks' call sites: indexes into Summary::sites
  Rank root = no_rank;
  std::vector<RankTimes> times;  ///< of the ranks joined here, or empty
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

/// Calls of one function, or from one call site.
struct NamedCalls {
  std::string name;
  std::int64_t calls = 0;
};

/// Adds calls to those of the same names. O(a b).
void add(std::vector<NamedCalls>& calls, const std::vector<NamedCalls>& more);

/// The joined logs. A pending call moves to the statistics of its call site as soon as it has all
/// its ranks. So memory is bounded for any number of processes: 4 MiB of single ranks' times for
/// each track of an incomplete communicator, 2 MiB for each call site.
struct Summary {
  std::string destination;  ///< of the report, if any process knows one
  int ranks = 0;            ///< number of processes joined here
  int nodes = 0;
  double clock_error = 0;   ///< of times across nodes, at most; seconds; negative: unknown
  bool clock_drift = true;  ///< clocks were compared twice, so drift is subtracted
  double seconds_sum = 0;   ///< time in the calls, sum over processes
  double seconds_max = 0;   ///< time in the calls, maximum over processes
  double wall_sum = 0;      ///< from the start of a process to its report, sum over processes
  std::vector<NamedCalls> others;  ///< what Tutti passes on, by function; sums over processes
  std::vector<SiteCalls> calls;
  std::vector<std::string> sites;
  std::vector<PendingTrack> tracks;
  TuningRecords tuning;
};

/// Converts a return address to text.
using NameSite = std::function<std::string(const void*)>;

/// The location of one process of MPI_COMM_WORLD.
struct ProcessLocation {
  Rank rank = 0;
  Node node = 0;           ///< equal for processes with a common clock, also by `common`
  bool is_leader = false;  ///< true for one process of each node
  /// Converts a time of this process to the common clock. Seconds.
  std::function<double(double)> common = std::identity();
  double clock_error = 0;    ///< of `common`, at most; seconds; negative: it does not compare nodes
  bool clock_drift = false;  ///< clocks were compared twice, so `common` subtracts the drift
};

/// The summary of one process's log.
[[nodiscard]] Summary summarise(const CallLog& log, const ProcessLocation& location,
                                const NameSite& name_site);

/// Adds the logs of other processes. Takes the time of sorting both.
void join(Summary& summary, Summary&& other);

/// Writes a summary in the layout of this machine.
[[nodiscard]] std::vector<std::byte> to_bytes(const Summary& summary);
/// Reads the bytes that to_bytes() of the same version wrote; nothing if some are missing.
[[nodiscard]] std::optional<Summary> summary_from_bytes(std::span<const std::byte> bytes);

}  // namespace tutti
