/// One-sided broadcast of large vectors: their parts follow one another down a tree.
#include <algorithm>

#include "algorithms/one_sided.hpp"

namespace tutti {

namespace {

/// As many as asked for by `parts`; else so that each fits into a notification, up to 512.
int parts_of(const Problem& problem) {
  constexpr Bytes most = 512;
  if (problem.parameters.parts > 0) return problem.parameters.parts;
  const Bytes parts = (problem.vector_bytes() + max_carried - 1) / max_carried;
  return static_cast<int>(std::clamp<Bytes>(parts, 1, most));
}

/// The tree in which position v has up to k children from v k + 1 on, by levels:
///
///     p = 6, k = 2
///         0 -+- 1 -+- 3
///            |     +- 4
///            +- 2 --- 5
Schedule pipelined(const Problem& problem, int k) {
  const auto shape = [k](Position v, int n) {
    Kin kin{(v - 1) / k, {}};
    for (int i = 1; i <= k && v * k + i < n; ++i) kin.children.push_back(v * k + i);
    return kin;
  };
  // A flush of each part would wait for its target each time.
  Problem carried = problem;
  if (carried.parameters.carry == max_carried) carried.parameters.carry = all_carried;
  return broadcast_along(carried, shape, parts_of(problem));
}

}  // namespace

/// n + p - 2 stages of a part each.
Schedule rma_bcast_chain(const Problem& problem) { return pipelined(problem, 1); }

/// About 2 (n + log2 p) stages: twice the vector leaves each inner rank.
Schedule rma_bcast_binary(const Problem& problem) { return pipelined(problem, 2); }

}  // namespace tutti
