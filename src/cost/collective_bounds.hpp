/// Lower bounds on when any collective can be over, given sizes and arrival times.
#pragma once

#include "cost/bounds.hpp"

namespace tutti {

// As in bounds.hpp: each is on the last exit, counted from 0, and never below the last arrival.
// `sizes` are those of a call: of the blocks of ranks, of a vector (all equal), of a block for one
// rank in an alltoall (all equal). O(p log p) but for alltoallv, which is O(p^2).

/// A vector must leave the root, reach every rank after its arrival, and have p holders, of whom
/// there are at most twice as many after each start-up.
[[nodiscard]] double bcast_bound(const BoundCase& call);
/// The same for trees that neither cut the vector nor pass on what they do not have whole: a round
/// takes alpha + m beta then.
[[nodiscard]] double bcast_whole_bound(const BoundCase& call);
/// Each block must reach all ranks; callers receive all blocks but their own after their arrival.
/// In the background only blocks that arrive at t or later must be received after t.
[[nodiscard]] double allgather_bound(const BoundCase& call);
/// Each contribution must reach the root, and those that arrive at t or later be combined in pairs.
[[nodiscard]] double reduce_bound(const BoundCase& call);
/// A rank must send its contributions to all blocks but its own after its arrival, whoever
/// receives.
[[nodiscard]] double reduce_scatter_bound(const BoundCase& call);
/// After t, n late contributions must be merged into each element, which then must get to p - 1
/// ranks: from m beta with one late rank to 2 (p - 1) / p m beta with ranks that arrive together.
[[nodiscard]] double allreduce_bound(const BoundCase& call);
/// What each rank sends after its arrival, and what each receives from ranks that arrive at t or
/// later. `pairs` are the sizes at s * p + d; empty: all are sizes[0].
[[nodiscard]] double alltoall_bound(const BoundCase& call, std::span<const Bytes> pairs = {});
/// All must hear of the last: ceil(log2 p) start-ups.
[[nodiscard]] double barrier_bound(const BoundCase& call);

/// The bound for that collective. `pairs` count for an alltoallv.
[[nodiscard]] double lower_bound(Collective collective, const BoundCase& call,
                                 std::span<const Bytes> pairs = {});

}  // namespace tutti
