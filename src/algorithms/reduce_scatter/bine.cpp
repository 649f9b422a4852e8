/// Reduce_scatter along a Bine butterfly.
#include "shapes/bine.hpp"

#include "algorithms/butterfly.hpp"

namespace tutti {

/// The Bine allgather backwards: two groups exchange their contributions to the blocks that the
/// other has before this step of the allgather (De Sensi et al. 2025, section 4):
///
///     p = 8    0<>3 {2 3 4 5}<>{6 7 0 1} ..    0<>7 {6 7}<>{0 1} ..    0<>1 {1}<>{0} ..
///
/// log2 p rounds for a power of two, (p - 1) m beta. For other p the pairs' second positions send
/// all contributions first and receive their block at the end. Combines in a cyclic sequence.
Schedule reduce_scatter_bine(const Problem& problem) {
  return reduce_scatter_along<BineButterfly>(problem);
}

}  // namespace tutti
