/// Reduce_scatter by recursive halving and along a Bine butterfly.
#include "algorithms/butterfly.hpp"

#include "shapes/bine.hpp"

namespace tutti {

/// The allgather by recursive doubling backwards: in each round a group and the group at half the
/// distance of the round before exchange their contributions to the other's half.
///
///     p = 6    1>0 {0 .. 5} 3>2 {0 .. 5}    0<>4 2<>5    0<>2 4<>5    0>1 {1} 2>3 {3}
///
/// log2 p rounds for a power of two, (p - 1) m beta (Thakur, Rabenseifner & Gropp 2005, section
/// 4.4). For other p the pairs' second positions send all contributions first and receive their
/// block at the end. Combines groups that are not neighbours, so the operation must commute.
Schedule reduce_scatter_recursive_halving(const Problem& problem) {
  return reduce_scatter_along<Hypercube>(problem);
}

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
