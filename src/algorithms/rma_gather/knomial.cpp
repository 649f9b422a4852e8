/// One-sided gather of one block from each window along a k-nomial tree; only the root calls.
#include <algorithm>

#include "algorithms/one_sided.hpp"

namespace tutti {

/// Each position sends the blocks of its subtree to its parent.
Schedule rma_gather_knomial(const Problem& problem) { return answer_along(problem); }

/// All ranks are the root's children: two stages, p - 1 answers at once.
Schedule rma_gather_linear(const Problem& problem) {
  return rma_gather_knomial(problem.with_k(std::max(problem.p, 2)));
}

}  // namespace tutti
