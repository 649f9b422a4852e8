/// Linear one-sided broadcast: the root puts into every rank's memory itself.
#include "algorithms/one_sided.hpp"

namespace tutti {

/// p - 1 puts from the root, one gap apart (Paznikov 2024, section 1.1). Under LogGP each put takes
/// the root max(g, (m - 1) G); a flush and a notification follow.
Schedule rma_bcast_linear(const Problem& problem) {
  const auto star = [](Position v, int n) {
    TreeEdges edges{0, {}};
    for (Position other = 1; v == 0 && other < n; ++other) edges.children.push_back(other);
    return edges;
  };
  return broadcast_along(problem, star, 1);
}

}  // namespace tutti
