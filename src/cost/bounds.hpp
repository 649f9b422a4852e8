/// Lower bounds on the end of any collective, for given sizes and arrivals.
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

/// A lower bound on the time of the last exit of a collective, counted from 0; at least the last
/// arrival. `sizes` are those of a call: the blocks of ranks, a vector (all equal), or a block for
/// one rank in an alltoall (all equal). Only an alltoallv uses `pairs`: the sizes at s * p + d;
/// empty: all are sizes[0]. A gather's bound is for trees that do not split blocks. O(p log p);
/// alltoallv O(p^2).
[[nodiscard]] double lower_bound(Collective collective, const BoundCase& call,
                                 std::span<const Bytes> pairs = {});

}  // namespace tutti
