/// Derives the rounds of an algorithm from its schedules or its shape.
#include "cost/traffic.hpp"

#include <algorithm>
#include <cassert>
#include <map>

#include "algorithms/problems.hpp"
#include "cost/engine.hpp"
#include "shapes/traffic.hpp"

namespace tutti {

namespace {

/// The reversed messages in reversed rounds.
Traffic backwards(Traffic traffic) {
  std::reverse(traffic.rounds.begin(), traffic.rounds.end());
  for (Traffic::Round& round : traffic.rounds) {
    for (Traffic::Message& message : round.messages) std::swap(message.from, message.to);
  }
  return traffic;
}

Traffic tree_traffic(Collective collective, int p, int k, Bytes block) {
  if (block_kind(collective) == BlockKind::parts) {
    const Traffic down = tree_bcast_traffic(p, k, block);
    return flows_to_root(collective) ? backwards(down) : down;
  }
  return flows_to_root(collective) ? tree_gather_traffic(p, k, block)
                                   : tree_scatter_traffic(p, k, block);
}

}  // namespace

Traffic traffic_of(const Specification& specification, int p, Bytes block) {
  if (p > max_exact_ranks) return shape_traffic_of(specification, p, block);
  Specification natural = specification;
  natural.order = OrderName::natural;
  const Call call{specification.algorithm->collective, 0,
                  std::vector<Bytes>(static_cast<std::size_t>(p), block)};
  EngineModel rounds;
  rounds.service = EngineModel::Service::greedy;
  rounds.tie = EngineModel::Tie::none;
  rounds.machine.latency = 1;
  rounds.machine.per_byte = 0;
  rounds.two_ports = true;
  std::map<double, Traffic::Round> by_start;
  [[maybe_unused]] const auto error = execute(
      Problems(natural, call).schedules(), rounds, {}, {.started = [&](const Transfer& moved) {
        by_start[moved.start].messages.push_back({moved.from, moved.to, moved.bytes});
      }});
  assert(!error);
  Traffic traffic{p, {}};
  for (auto& [start, round] : by_start) {
    std::sort(round.messages.begin(), round.messages.end(),
              [](const auto& a, const auto& b) { return a.from < b.from; });
    if (!traffic.rounds.empty() && traffic.rounds.back().messages == round.messages) {
      ++traffic.rounds.back().times;
    } else {
      traffic.rounds.push_back(std::move(round));
    }
  }
  return traffic;
}

Traffic shape_traffic_of(const Specification& specification, int p, Bytes block) {
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
    // An allreduce goes around the ring twice.
    if (algorithm.collective == Collective::allreduce && p > 1) traffic.rounds[0].times *= 2;
    return traffic;
  }
  return star_traffic(p, block, flows_to_root(algorithm.collective));
}

}  // namespace tutti
