/// Relay scatter: early ranks deliver to the late ones.
#include "shapes/relay.hpp"

#include "algorithms/tree.hpp"

namespace tutti {

/// The root sends every early rank its own block and those of its share of the late ranks. So many
/// ports serve the late ranks at once after they arrive:
///
///     p = 6, late = 2, root 2, order 2 0 5 1 4 3: 5 and 4 are late
///         2 -+- 0 --- 5
///            +- 1 --- 4
///            +- 3
///
/// If L of p ranks arrive late and together, ceil(L / (p - L)) blocks follow the last arrival
/// instead of L. This is the lower bound of a scatter to ranks that receive after their arrival, if
/// the root is done before. p = 48, L = 24: 1 block instead of 24. We know of no paper with it. A
/// binomial tree by arrival also relays, to the leaves, which are half of the ranks; with more late
/// ranks its largest subtrees take longer (L = 44: 15 blocks instead of 11).
Schedule scatter_relay(const Problem& problem) {
  return scatter_along(problem, RelayTree(problem.p, problem.parameters.late));
}

}  // namespace tutti
