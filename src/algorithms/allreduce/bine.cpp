/// Allreduce along a Bine butterfly.
#include "shapes/bine.hpp"

#include "algorithms/butterfly.hpp"

namespace tutti {

/// A reduce_scatter of the vector's parts, one part per group, then an allgather of the parts (De
/// Sensi et al. 2025, section 4):
///
///     p = 8    0<>3 halves    0<>7 quarters    0<>1 eighths    and back
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more. The operation
/// must commute.
Schedule allreduce_bine(const Problem& problem) { return allreduce_along<BineButterfly>(problem); }

}  // namespace tutti
