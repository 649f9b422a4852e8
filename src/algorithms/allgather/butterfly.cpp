/// Allgather by recursive doubling and along a Bine butterfly.
#include "algorithms/butterfly.hpp"

#include "shapes/bine.hpp"

namespace tutti {

/// In round d group g and group g xor 2^d exchange all blocks that they have, which form a range:
///
///     p = 6    1>0 {1} 3>2 {3}    0<>2 4<>5    0<>4 2<>5    0>1 {0 2 3 4 5} 2>3 {0 1 2 4 5}
///
/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
Schedule allgather_recursive_doubling(const Problem& problem) {
  return allgather_along<Hypercube>(problem);
}

/// In step j groups at distance 1, -1, 3, -5, 11, .. exchange all blocks that they have, which form
/// a cyclic range (De Sensi et al. 2025, section 4; see shapes/bine.hpp):
///
///     p = 8    0<>1 2<>3 4<>5 6<>7    0<>7 2<>1 4<>3 6<>5    0<>3 2<>5 4<>7 6<>1
///
/// log2 p rounds for a power of two, (p - 1) m beta. Other p add a first and a last round, in which
/// the pairs' second positions send their block and receive all others.
Schedule allgather_bine(const Problem& problem) { return allgather_along<BineButterfly>(problem); }

}  // namespace tutti
