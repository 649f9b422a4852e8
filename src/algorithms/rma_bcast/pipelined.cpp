/// One-sided broadcast of large vectors: the parts go down a tree in a pipeline.
#include "algorithms/one_sided.hpp"
#include "algorithms/pipeline.hpp"

namespace tutti {

namespace {

/// The tree in which position v has up to k children from v k + 1 on:
///
///     p = 6, k = 2
///         0 -+- 1 -+- 3
///            |     +- 4
///            +- 2 --- 5
Schedule pipelined(const Problem& problem, int k) {
  const auto shape = [k](Position v, int n) {
    TreeEdges edges{(v - 1) / k, {}};
    for (int i = 1; i <= k && v * k + i < n; ++i) edges.children.push_back(v * k + i);
    return edges;
  };
  // With puts, each part would wait for a flush, which takes a round trip.
  Problem carried = problem;
  if (carried.parameters.carry == max_carried) carried.parameters.carry = all_carried;
  // Parts that fit into a notification.
  return broadcast_along(carried, shape, pipeline_parts(problem, max_carried, 512));
}

}  // namespace

/// n + p - 2 stages of one part each.
Schedule rma_bcast_chain(const Problem& problem) { return pipelined(problem, 1); }

/// About 2 (n + log2 p) stages: each inner rank sends the vector twice.
Schedule rma_bcast_binary(const Problem& problem) { return pipelined(problem, 2); }

}  // namespace tutti
