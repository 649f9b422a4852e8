/// One-sided reduction of all windows' vectors along a k-nomial tree; only the root calls.
#include <algorithm>

#include "algorithms/one_sided.hpp"

namespace tutti {

/// Each position combines its own vector with those of its children and sends it to its parent.
Schedule rma_reduce_knomial(const Problem& problem) { return answer_along(problem); }

/// All ranks are children of the root, which combines p - 1 vectors.
Schedule rma_reduce_linear(const Problem& problem) {
  return rma_reduce_knomial(problem.with_k(std::max(problem.p, 2)));
}

}  // namespace tutti
