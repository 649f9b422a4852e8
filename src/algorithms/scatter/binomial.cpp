/// Binomial scatter: the k-nomial tree with k = 2.
#include "schedule/schedule.hpp"

namespace tutti {

Schedule scatter_knomial(const Problem& problem);

/// ceil(log2 p) rounds; the block at position v travels popcount(v) hops (Proficz 2020, BNOM).
Schedule scatter_binomial(const Problem& problem) {
  Problem binary = problem;
  binary.parameters.k = 2;
  return scatter_knomial(binary);
}

}  // namespace tutti
