/// Lower bounds on the end of a gather or scatter, for given sizes and arrivals.
#pragma once

#include <span>

#include "core/types.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The input of a lower bound. Times in the unit of `latency`.
struct BoundCase {
  Rank root = 0;
  std::span<const Bytes> sizes;      ///< by rank: its block; the length is p
  std::span<const double> arrivals;  ///< by rank: the true arrival; empty: all at 0
  double latency = 0;                ///< alpha; a message also occupies a port for that time
  double per_byte = 0;               ///< beta
  /// The receiving thread: `background` if data may reach a rank before its arrival, as eager
  /// messages do.
  Runner receiver = Runner::caller;

  [[nodiscard]] double arrival(Rank rank) const;
  [[nodiscard]] double last_arrival() const;
};

/// ceil(log2 ranks): the number of doublings from 1 to `ranks`.
[[nodiscard]] double doubling_rounds(std::size_t ranks);

// Each function bounds the time of the last exit, counted from 0, and returns at least the last
// arrival. O(p log p).

/// G1: blocks that are released at t or later cross the root's receive port after t.
[[nodiscard]] double gather_volume_bound(const BoundCase& call);
/// G2: each start-up at most doubles the number of ranks whose blocks the root holds.
[[nodiscard]] double gather_rounds_bound(const BoundCase& call);
/// G3: G1 and G2 together, for n blocks of at least mu bytes that arrive at t or later:
/// t + alpha ceil(log2(1 + n)) + beta mu n. Valid for trees that do not split blocks. Evaluated for
/// every mu, and for the t of the 1, 2, 4, .. last arrivals.
[[nodiscard]] double gather_equal_bound(const BoundCase& call);
/// The largest of the three.
[[nodiscard]] double gather_bound(const BoundCase& call);

/// For scatters of any shape: the root's send port and the rounds. If callers receive, also the
/// blocks that must leave the ranks that arrived before t.
[[nodiscard]] double scatter_bound(const BoundCase& call);

}  // namespace tutti
