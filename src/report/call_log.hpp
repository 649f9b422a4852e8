/// The log of one process's collective calls, and of what was measured of the candidates for them.
/// Memory: O(1) for each call site and number of ranks with each size class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// How many calls of one call site belong to a case.
struct CallsOfCase {
  std::uint64_t communicator = 0;
  CaseOfCall of;
  std::int64_t calls = 0;
};

/// A candidate, of which 0 is the MPI's own. Times are seconds.
struct MeasuredCandidate {
  std::string name;
  std::int64_t calls = 0;  ///< with measured times; 0 if only the median is known
  double median = -1;      ///< negative: not measured
  double least = 0;        ///< the interval of the median
  double most = 0;
  double confidence = 0;  ///< of the interval; 0: there is none
  std::string state;      ///< "selected", or in a word why not
  std::string why;        ///< the same in a sentence
};

/// What decides the calls of one collective and class of message sizes on a communicator.
struct MeasuredCase {
  int id = 0;  ///< unique for the communicator and collective
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;   ///< negative: no bound
  std::string evidence;  ///< where the times come from, such as "this run"
  std::string reason;    ///< of the selection
  int selected = 0;
  std::int64_t explored = 0;  ///< calls noted that did not run what was selected
  double exploring = 0;       ///< seconds lost by them
  std::vector<MeasuredCandidate> candidates;
};

/// The cases of one collective on one communicator. Equal on its ranks, so one rank records it.
struct TuningRecord {
  std::uint64_t communicator = 0;
  Collective collective = Collective::gather;
  int p = 1;
  double exploring = 0;  ///< seconds lost by exploring: calls, agreements, inspecting calls
  std::vector<MeasuredCase> cases;
};

/// Records of many communicators in bounded memory.
struct TuningRecords {
  static constexpr std::size_t records_at_most = 256;

  std::vector<TuningRecord> all;
  std::int64_t left_out = 0;      ///< further records
  double left_out_exploring = 0;  ///< their TuningRecord::exploring, times ranks

  void add(TuningRecord record);
  void add(const TuningRecords& more);
};

/// Counts more calls of a case. Those of further cases than 1,024 are counted together, as of a
/// case that does not exist. O(cases), O(1) for the latest.
void add_calls(std::vector<CallsOfCase>& all, const CallsOfCase& more);

/// One call of a collective at one rank.
struct CallRecord {
  Collective collective = Collective::gather;
  const void* site = nullptr;      ///< the return address of the call in the program
  std::uint64_t communicator = 0;  ///< equal on its ranks, unique in the job
  std::uint64_t call = 0;          ///< number of earlier calls of this collective there
  Rank rank = 0;                   ///< in the communicator of the call
  int p = 1;
  Rank root = 0;
  Bytes own = 0;            ///< bytes of this rank's block
  Bytes total = -1;         ///< bytes of all blocks at the root; else -1
  Bytes largest = -1;       ///< bytes of the largest block at the root; else -1
  Bytes kept = 0;           ///< of total: what the root of an alltoallv has for itself
  Bytes largest_sent = -1;  ///< alltoallv: the largest of its other blocks
  const std::string* decision = nullptr;  ///< "algorithm: why"
  CaseOfCall measured;
  double arrival = 0;  ///< seconds of the machine's monotonic clock
  double exit = 0;
  /// Seconds: this rank's expected arrival minus its arrival; NaN without an expectation.
  double ahead = std::numeric_limits<double>::quiet_NaN();
  /// Seconds from this rank's progress hint to its arrival; NaN without a hint.
  double progress_hint = std::numeric_limits<double>::quiet_NaN();
};

/// Calls with one root.
struct RootCalls {
  Rank root = 0;
  std::int64_t calls = 0;
};

/// The calls with one number of ranks and one class of message sizes. Sums over these calls. The
/// message size is as rules define it: the vector of a bcast or reduction, else the mean block.
struct SizedCalls {
  int p = 1;
  SizeClass size_class = 0;
  std::int64_t calls = 0;
  Bytes bytes = 0;              ///< of message sizes
  double irregularity_sum = 0;  ///< of largest block / mean block
  double seconds = 0;           ///< of the root's exit - arrival
  std::vector<RootCalls> roots;

  void add(const RootCalls& more);
  /// The root of most of these calls, the lowest of several. Requires a root.
  [[nodiscard]] Rank root() const;
};

/// Beyond this number, a further root takes over the calls of the one with the fewest. So a root of
/// more than 1/64 of the calls stays (Metwally et al. 2005, space-saving).
inline constexpr std::size_t roots_at_most = 64;

/// Sums over calls, exact for any number of them.
struct CallTotals {
  std::int64_t calls = 0;
  Bytes bytes = 0;              ///< at the root: of all blocks; elsewhere: of its own blocks
  double irregularity_sum = 0;  ///< of largest block / mean block; only at the root
  double irregularity_max = 0;
  double seconds = 0;              ///< of exit - arrival
  std::vector<CallsOfCase> cases;  ///< only at the root
  std::vector<SizedCalls> sizes;   ///< only at the root

  void add(const CallTotals& more);
  /// Adds calls to those with equal ranks and size, and returns all these. O(sizes + roots^2).
  SizedCalls& add_sized(const SizedCalls& more);
};

/// The calls that one process made as root, or as another rank, from one call site with one
/// decision.
struct LoggedCalls : CallTotals {
  Collective collective = Collective::gather;
  const void* site = nullptr;
  std::string decision;  ///< "algorithm: why"
  bool at_root = false;
};

/// The times of one call at this process.
struct TimedCall {
  std::uint64_t call = 0;  ///< of the collective on the communicator
  double arrival = 0;
  double exit = 0;
  std::uint32_t logged = 0;  ///< index into CallLog::logged()
  float ahead = 0;           ///< as in CallRecord
  float progress_hint = 0;   ///< as in CallRecord
};

/// A sample of the timed calls of one collective on one communicator.
///
/// It keeps pairs of calls, 2 n and 2 n + 1 where n is a multiple of the stride, which doubles when
/// the memory is full. Pairs show what ranks do between two calls. All ranks of a communicator have
/// the same call numbers, so they keep the same calls without communication, even if their call
/// sites differ or they finish persistent calls in different sequences.
struct Track {
  std::uint64_t communicator = 0;
  Collective collective = Collective::gather;
  Rank rank = 0;
  int p = 1;
  std::uint64_t stride = 1;
  std::vector<TimedCall> calls;  ///< in the sequence of their ends

  /// Is the call with this number among those of the stride?
  [[nodiscard]] static bool is_kept(std::uint64_t call, std::uint64_t stride) {
    return call / 2 % stride == 0;
  }
};

/// The log. Adding a record takes O(log n) in the number of call sites with decisions, O(1) for
/// those of the call before, and O(s) in the sizes of its site; no allocation if its call site,
/// decision, communicator and size are known. Not thread-safe.
class CallLog {
 public:
  static constexpr std::size_t calls_in_track = 1024;
  /// Further communicators have only totals. Bounds tracks to 2.5 MiB.
  static constexpr std::size_t tracks_at_most = 64;

  void add(const CallRecord& record);
  void add(TuningRecord record) { tuning_.add(std::move(record)); }

  [[nodiscard]] const std::vector<LoggedCalls>& logged() const { return logged_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] const TuningRecords& tuning() const { return tuning_; }

 private:
  std::uint32_t find_logged(const CallRecord& record);
  Track* find_track(const CallRecord& record);

  std::vector<LoggedCalls> logged_;
  std::vector<Track> tracks_;
  TuningRecords tuning_;
  /// By site, collective, whether this process was root, and decision.
  std::map<std::tuple<const void*, Collective, bool, std::string>, std::uint32_t, std::less<>>
      logged_at_;
  std::map<std::pair<std::uint64_t, Collective>, std::uint32_t> track_at_;  ///< by communicator
  /// By collective, and by whether this process was root: the index of the last call. The next call
  /// usually has the same.
  PerCollective<std::array<std::uint32_t, 2>> last_logged_{};
};

}  // namespace tutti
