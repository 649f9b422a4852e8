/// From algorithms to shapes.
#include "algorithms/traffic.hpp"

#include <algorithm>

#include "shapes/traffic.hpp"

namespace tutti {

namespace {

/// A vector's messages turned round: from its ends back to position 0.
Traffic backwards(Traffic traffic) {
  std::reverse(traffic.rounds.begin(), traffic.rounds.end());
  for (Traffic::Round& round : traffic.rounds) {
    for (Traffic::Message& message : round.messages) std::swap(message.from, message.to);
  }
  return traffic;
}

Traffic tree_traffic(Collective collective, int p, int k, Bytes block) {
  if (collective == Collective::bcast) return tree_bcast_traffic(p, k, block);
  if (collective == Collective::reduce) return backwards(tree_bcast_traffic(p, k, block));
  return is_gather(collective) ? tree_gather_traffic(p, k, block)
                               : tree_scatter_traffic(p, k, block);
}

}  // namespace

Traffic traffic_of(const Specification& specification, int p, Bytes block) {
  const Algorithm& algorithm = *specification.algorithm;
  const bool vector = block_kind(algorithm.collective) == BlockKind::parts;
  const bool tree = algorithm.name == "binomial" || algorithm.name == "knomial";
  if (tree && has_root(algorithm.collective)) {
    return tree_traffic(algorithm.collective, p, specification.parameters.k, block);
  }
  if (algorithm.name == "recursive_doubling" && !vector) return doubling_traffic(p, block);
  if (algorithm.name == "chain" || algorithm.name == "scatter_allgather") {
    return ring_traffic(p, (block + p - 1) / p);
  }
  if (algorithm.name == "ring") {
    Traffic traffic = ring_traffic(p, vector ? (block + p - 1) / p : block);
    // An allreduce goes around twice.
    if (algorithm.collective == Collective::allreduce && p > 1) traffic.rounds[0].times *= 2;
    return traffic;
  }
  return star_traffic(p, block, flows_to_root(algorithm.collective));
}

}  // namespace tutti
