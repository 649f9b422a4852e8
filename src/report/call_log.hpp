/// What one process remembers of the collectives it called, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// One call of a collective at one rank.
struct CallRecord {
  Collective collective = Collective::gather;
  const void* site = nullptr;      ///< the return address of the call in the program
  std::uint64_t communicator = 0;  ///< alike on its ranks, and no other communicator's in the job
  std::uint64_t call = 0;          ///< how many of this collective began there before it
  Rank rank = 0;                   ///< in the communicator of the call
  int p = 1;
  Rank root = 0;
  Bytes own = 0;                          ///< this rank's block
  Bytes total = -1;                       ///< of all blocks; known at the root only, else -1
  Bytes largest = -1;                     ///< block; known at the root only, else -1
  const std::string* decision = nullptr;  ///< "algorithm: why"
  double arrival = 0;                     ///< seconds of the machine's monotonic clock
  double exit = 0;
  /// Seconds: when this rank was expected less its arrival; NaN where nothing was expected.
  double ahead = std::numeric_limits<double>::quiet_NaN();
  /// Seconds from this rank's progress_hint to its arrival; NaN where the program told of none.
  double progress_hint = std::numeric_limits<double>::quiet_NaN();
};

/// Calls that one process made as root, or as one of the others, from one place under one
/// decision. Totals are exact, whatever the number of calls.
struct LoggedCalls {
  Collective collective = Collective::gather;
  const void* site = nullptr;
  std::uint32_t decision = 0;  ///< index into CallLog::decisions()
  bool at_root = false;

  std::int64_t calls = 0;
  Bytes bytes = 0;              ///< at the root: of all blocks; elsewhere: of the own ones
  double irregularity_sum = 0;  ///< of largest block / mean block; at the root only
  double irregularity_max = 0;
  double seconds = 0;  ///< between arrivals and exits
};

/// When one call began and ended at this process.
struct TimedCall {
  std::uint64_t call = 0;  ///< of the collective on the communicator
  double arrival = 0;
  double exit = 0;
  std::uint32_t logged = 0;  ///< index into CallLog::logged()
  float ahead = 0;           ///< as CallRecord's
  float progress_hint = 0;   ///< likewise
};

/// The timed calls of one collective on one communicator, thinned out as they become many.
///
/// Calls whose numbers are multiples of the stride are kept, and the stride doubles whenever the
/// memory is full. As all ranks of a communicator make calls of the same numbers, they keep the
/// same ones without a word to each other, whatever their call sites are, and even where some
/// finish persistent calls in another sequence than others.
struct Track {
  std::uint64_t communicator = 0;
  Collective collective = Collective::gather;
  Rank rank = 0;
  int p = 1;
  std::uint64_t stride = 1;
  std::vector<TimedCall> calls;  ///< in the sequence in which they ended
};

/// Adding a record takes constant time and, once its call site, decision and communicator are
/// known, no allocation. Not safe for concurrent calls.
class CallLog {
 public:
  static constexpr std::size_t calls_in_track = 1024;
  /// Communicators after these have totals only: 2.5 MiB in all.
  static constexpr std::size_t tracks_at_most = 64;

  void add(const CallRecord& record);

  [[nodiscard]] const std::vector<LoggedCalls>& logged() const { return logged_; }
  [[nodiscard]] const std::vector<std::string>& decisions() const { return decisions_; }
  [[nodiscard]] const std::vector<Track>& tracks() const { return tracks_; }
  [[nodiscard]] bool is_empty() const { return logged_.empty(); }

 private:
  struct CallsKey {
    const void* site;
    std::uint32_t decision;
    Collective collective;
    bool at_root;
    friend bool operator==(const CallsKey&, const CallsKey&) = default;
  };
  struct TrackKey {
    std::uint64_t communicator;
    Collective collective;
    friend bool operator==(const TrackKey&, const TrackKey&) = default;
  };
  struct Hash {
    std::size_t operator()(const CallsKey& key) const;
    std::size_t operator()(const TrackKey& key) const;
  };

  std::uint32_t find_logged(const CallRecord& record);
  std::uint32_t find_decision(const std::string& text);
  Track* find_track(const CallRecord& record);

  std::vector<LoggedCalls> logged_;
  std::vector<std::string> decisions_;
  std::vector<Track> tracks_;
  std::unordered_map<CallsKey, std::uint32_t, Hash> logged_at_;
  std::unordered_map<std::string, std::uint32_t> decision_at_;
  std::unordered_map<TrackKey, std::uint32_t, Hash> track_at_;
  /// Index of the last call of each collective, not as root and as root: the next is most often
  /// alike.
  std::array<std::array<std::uint32_t, 2>, all_collectives.size()> last_logged_{};
};

}  // namespace tutti
