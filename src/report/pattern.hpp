/// Who arrived when at the calls of one site, and what ranks did with their time there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// When the ranks of one call came and left. Seconds.
struct CallTimes {
  std::uint64_t call = 0;      ///< of the collective on the communicator
  Rank root = no_rank;         ///< no_rank: every rank needs every other
  double begin = 0;            ///< the first arrival, on the clock that all share
  std::vector<float> delays;   ///< by rank: arrival - begin
  std::vector<float> elapsed;  ///< by rank: exit - arrival
  /// By rank: when it was expected less its arrival; NaN where nothing was expected.
  std::vector<float> ahead;
  std::vector<float>
      progress_hint;  ///< by rank: from its progress_hint to its arrival; NaN without one
};

/// What a rank did between its arrival and its exit: three intervals that follow each other.
/// Seconds.
///
/// Nobody can have waited for a rank that came after he had left. So let `seen` be the last arrival
/// that is no later than the exit, and `needed` the last one among those of ranks that a rank
/// cannot do without: the root cannot do without any rank, the others cannot do without the root.
///
///     arrival --waiting--> needed --held--> seen --moving--> exit
///
/// For the root of a gather or scatter, needed = seen.
struct Parts {
  double waiting = 0;  ///< for late ranks that it needs: no algorithm could have spared it that
  double held = 0;     ///< others were late: it stood behind them in the algorithm, or moved data
  double moving = 0;   ///< nobody it saw was missing
};

/// By rank. O(p log p).
[[nodiscard]] std::vector<Parts> parts_of(const CallTimes& call);

/// The calls of one collective from one site on one communicator.
struct ArrivalPattern {
  std::uint64_t communicator = 0;
  std::vector<Rank> world;       ///< by rank of the communicator: the rank in MPI_COMM_WORLD
  std::vector<CallTimes> calls;  ///< by number
  double waited = 0;             ///< waiting and held, over all ranks and calls

  [[nodiscard]] bool is_empty() const { return calls.empty(); }
};

/// One rank's share in the calls of a pattern: means over calls, in seconds.
struct RankShare {
  Parts parts;
  double delays = 0;         ///< behind the first arrival
  double delay_as_last = 0;  ///< the same of calls in which it was the last one
  std::int64_t last = 0;     ///< how often it was the last one; of several, the lowest rank is
};

/// By rank. There must be a call. O(calls p log p).
[[nodiscard]] std::vector<RankShare> shares_of(const ArrivalPattern& pattern);

/// One sentence without a full stop: "rank 3 is last in 96 % of 50 calls, 41.0 ms behind the
/// first". Names nobody where arrivals are no further apart than `clock_error`; empty for a rank
/// alone.
[[nodiscard]] std::string who_is_late(const ArrivalPattern& pattern, double clock_error);

}  // namespace tutti
