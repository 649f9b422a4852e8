/// The arrivals of ranks at the calls of one site, and the division of their time in the calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The arrivals and exits of the ranks of one call. Seconds.
struct CallTimes {
  std::uint64_t call = 0;      ///< of the collective on the communicator
  Rank root = no_rank;         ///< no_rank: every rank needs every other
  double begin = 0;            ///< the first arrival, on the common clock
  std::vector<float> delays;   ///< by rank: arrival - begin
  std::vector<float> elapsed;  ///< by rank: exit - arrival
  /// By rank: expected arrival minus arrival; NaN without an expectation.
  std::vector<float> ahead;
  /// By rank: from its progress hint to its arrival; NaN without a hint.
  std::vector<float> progress_hint;
};

/// The time of a rank between its arrival and its exit, in three consecutive intervals. Seconds.
///
/// A rank cannot have waited for ranks that arrived after its exit. `seen` is the last arrival up
/// to its exit. `needed` is the last of these arrivals among the ranks that it must wait for: the
/// root must wait for all ranks, the others must wait for the root.
///
///     arrival --waiting--> needed --held--> seen --moving--> exit
///
/// For the root of a gather or scatter, needed = seen.
struct Parts {
  double waiting = 0;  ///< for late ranks that it needs: no algorithm can avoid this
  double held = 0;    ///< other ranks were late: it waited for them in the algorithm, or moved data
  double moving = 0;  ///< all ranks that it can have waited for had arrived

  Parts& operator+=(const Parts& more) {
    waiting += more.waiting;
    held += more.held;
    moving += more.moving;
    return *this;
  }
  Parts operator/(double count) const { return {waiting / count, held / count, moving / count}; }
};

/// The parts by rank. O(p log p).
[[nodiscard]] std::vector<Parts> parts_of(const CallTimes& call);

/// The calls of one collective from one site on one communicator.
struct ArrivalPattern {
  std::uint64_t communicator = 0;
  std::vector<Rank> world;       ///< by rank of the communicator: the rank in MPI_COMM_WORLD
  std::vector<CallTimes> calls;  ///< by number
  double waited = 0;             ///< sum of waiting and held over all ranks and calls

  [[nodiscard]] bool is_empty() const { return calls.empty(); }
};

/// One rank's means over the calls of a pattern, in seconds.
struct RankShare {
  Parts parts;
  double delays = 0;         ///< behind the first arrival
  double delay_as_last = 0;  ///< the same over calls in which it was last
  std::int64_t last = 0;     ///< number of calls in which it was last; the lowest rank of several
};

/// The shares by rank. Requires at least one call. O(calls p log p).
[[nodiscard]] std::vector<RankShare> shares_of(const ArrivalPattern& pattern);

/// One sentence without a full stop: "rank 3 is last in 96 % of 50 calls, 41.0 ms behind the
/// first". Names no rank if the spread is at most `clock_error`; empty for a single rank.
[[nodiscard]] std::string who_is_late(const ArrivalPattern& pattern, double clock_error);

}  // namespace tutti
