/// Binomial gather: the k-nomial tree with k = 2.
#include "schedule/schedule.hpp"

namespace tutti {

Schedule gather_knomial(const Problem& problem);

/// ceil(log2 p) rounds; the block at position v travels popcount(v) hops (Proficz 2020, BNOM).
Schedule gather_binomial(const Problem& problem) {
  Problem binary = problem;
  binary.parameters.k = 2;
  return gather_knomial(binary);
}

}  // namespace tutti
