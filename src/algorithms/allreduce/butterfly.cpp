/// Allreduce by recursive halving and doubling and along a Bine butterfly.
#include "algorithms/butterfly.hpp"

#include "shapes/bine.hpp"

namespace tutti {

/// A reduce_scatter by recursive halving of the vector's parts, one part per group, then an
/// allgather of the parts by recursive doubling (Rabenseifner 2004):
///
///     p = 6    1>0 3>2    0<>4 2<>5 halves    0<>2 4<>5 quarters    and back    0>1 2>3
///
/// 2 log2 p alpha + 2 (p - 1) / p m beta for powers of two. For other p the pairs' second positions
/// send their vector before and receive the result after: 2 (alpha + m beta) more. Combines groups
/// that are not neighbours, so the operation must commute.
Schedule allreduce_halving_doubling(const Problem& problem) {
  return allreduce_along<Hypercube>(problem);
}

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
