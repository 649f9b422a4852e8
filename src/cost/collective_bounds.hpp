/// Lower bounds on the end of any collective, for given sizes and arrivals.
#pragma once

#include "cost/bounds.hpp"

namespace tutti {

// As in bounds.hpp, each function bounds the last exit, counted from 0, and returns at least the
// last arrival. `sizes` are those of a call: the blocks of ranks, a vector (all equal), or a block
// for one rank in an alltoall (all equal). O(p log p); alltoallv O(p^2).

/// A vector must leave the root and reach every rank after its arrival; each start-up at most
/// doubles the number of ranks that hold it.
[[nodiscard]] double bcast_bound(const BoundCase& call);
/// Each block must reach all ranks; callers receive all other blocks after their arrival. In the
/// background only blocks that arrive at t or later must be received after t.
[[nodiscard]] double allgather_bound(const BoundCase& call);
/// Each contribution must reach the root, and contributions that arrive at t or later are combined
/// in pairs.
[[nodiscard]] double reduce_bound(const BoundCase& call);
/// A rank must send its contributions to all other blocks after its arrival, whichever thread
/// receives.
[[nodiscard]] double reduce_scatter_bound(const BoundCase& call);
/// After t, n late contributions must be combined into each element, which then goes to p - 1
/// ranks: from m beta with one late rank to 2 (p - 1) / p m beta if all ranks arrive together.
[[nodiscard]] double allreduce_bound(const BoundCase& call);
/// The bytes that each rank sends after its arrival, and those that it receives from ranks that
/// arrive at t or later. `pairs` are the sizes at s * p + d; empty: all are sizes[0].
[[nodiscard]] double alltoall_bound(const BoundCase& call, std::span<const Bytes> pairs = {});
/// The last arrival must reach all ranks: ceil(log2 p) start-ups.
[[nodiscard]] double barrier_bound(const BoundCase& call);

/// The bound for `collective`. Only an alltoallv uses `pairs`.
[[nodiscard]] double lower_bound(Collective collective, const BoundCase& call,
                                 std::span<const Bytes> pairs = {});

}  // namespace tutti
