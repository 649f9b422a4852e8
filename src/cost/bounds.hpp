/// Lower bounds on when a gather or scatter can be over, given sizes and arrival times.
#pragma once

#include <span>

#include "core/types.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// A call as a lower bound sees it. Times in the unit of `latency`.
struct BoundCase {
  Rank root = 0;
  std::span<const Bytes> sizes;      ///< of each rank's block; its length is p
  std::span<const double> arrivals;  ///< true ones, of each rank; empty: all at 0
  double latency = 0;                ///< alpha: also the port's occupancy by a message
  double per_byte = 0;               ///< beta
  /// Who receives: `background` where data may reach a rank before the rank arrives. That holds
  /// for eager messages too.
  Runner receiver = Runner::caller;

  [[nodiscard]] double arrival(Rank rank) const;
  [[nodiscard]] double last_arrival() const;
};

/// ceil(log2 ranks): in so many rounds one becomes that many.
[[nodiscard]] double doubling_rounds(std::size_t ranks);

// Each bound is on the time of the last exit, counted from 0; none is below the last arrival.
// All of them take O(p log p).

/// G1: what is released at t or later must cross the root's receive port after t.
[[nodiscard]] double gather_volume_bound(const BoundCase& call);
/// G2: the number of ranks whose blocks the root holds at most doubles with each start-up.
[[nodiscard]] double gather_rounds_bound(const BoundCase& call);
/// G3: both at once, for n blocks of at least mu bytes that arrive at t or later:
/// t + alpha ceil(log2(1 + n)) + beta mu n. Holds for trees that do not split blocks. Evaluated
/// for every mu, and for the t of the 1, 2, 4, .. last arrivals.
[[nodiscard]] double gather_equal_bound(const BoundCase& call);
/// The largest of the three.
[[nodiscard]] double gather_bound(const BoundCase& call);

/// For scatters of any shape: the root's send port, the rounds, and where receivers are the
/// callers, what must still leave the ranks that arrived before t.
[[nodiscard]] double scatter_bound(const BoundCase& call);

/// The optimum of the linear class, where each block travels straight between its rank and the
/// root: one machine with release dates, on which any order that does not idle is optimal. Above
/// `gather_bound` by at most (p - 2) alpha.
[[nodiscard]] double linear_gather_bound(const BoundCase& call);
[[nodiscard]] double linear_scatter_bound(const BoundCase& call);

}  // namespace tutti
