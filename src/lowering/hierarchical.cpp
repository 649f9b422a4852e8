/// Checks that a call can be hierarchical, and bounds its node memory.
#include "lowering/hierarchical.hpp"

#include <algorithm>
#include <set>

#include "lowering/hierarchical_chunk.hpp"

namespace tutti {

namespace {

/// The elements of the largest block, which bound the useful chunks.
Bytes max_elements(const HierarchicalProblem& call) {
  Bytes most = call.sizes.each;
  for (const auto* sizes : {&call.sizes.by_rank, &call.sizes.sent, &call.sizes.received}) {
    for (const Bytes bytes : *sizes) most = std::max(most, bytes);
  }
  return std::max<Bytes>(most / call.unit, 1);
}

/// Does every rank know the sizes of all blocks?
bool knows_all(Collective collective) { return size_exchange_words(collective, 1, false) == 0; }

/// Bounds the memory of a program with call.chunks chunks; also with more chunks if nodes may not
/// know how many others need.
Bytes bound_on(const HierarchicalProblem& call, const Nodes& nodes, int node) {
  const Bytes own = hierarchical_memory(call, nodes, node);
  if (call.chunks > 1 || knows_all(call.collective)) return own;
  HierarchicalProblem halved = call;
  halved.chunks = 2;
  return std::max(own, hierarchical_memory(halved, nodes, node));
}

/// The largest bound on the nodes whose sizes node `own` knows.
Bytes max_memory(const HierarchicalProblem& call, const Nodes& nodes, int own) {
  if (!knows_all(call.collective)) return bound_on(call, nodes, own);
  Bytes most = 0;
  std::set<int> seen;
  for (int node = 0; node < nodes.count(); ++node) {
    // With equal blocks, nodes of the same size need the same, except the root's.
    const bool as_others = !is_irregular(call.collective) && node != nodes.node_of(call.root);
    if (as_others && !seen.insert(nodes.size(node)).second) continue;
    most = std::max(most, bound_on(call, nodes, node));
  }
  return most;
}

}  // namespace

Collective form_between(Collective collective, const Nodes& nodes, int leaders) {
  const int ranks = nodes.most();
  if (nodes.even() && ranks % std::clamp(leaders, 1, ranks) == 0) return collective;
  switch (collective) {
    case Collective::gather:
      return Collective::gatherv;
    case Collective::scatter:
      return Collective::scatterv;
    case Collective::alltoall:
      return Collective::alltoallv;
    default:
      return collective;
  }
}

int size_exchange_words(Collective collective, int p, bool at_root) {
  if (collective == Collective::alltoallv) return 2 * p;
  if (!is_irregular(collective) || !is_gather_or_scatter(collective)) return 0;
  return at_root ? p + 1 : 1;
}

Result<Program> hierarchical_program(const HierarchicalProblem& call, const Nodes& nodes,
                                     Rank rank) {
  if (!can_be_hierarchical(call.collective)) {
    return Error{std::string(name_of(call.collective)) + " has no hierarchical form"};
  }
  if (reduces(call.collective) && !call.commutative && !nodes.in_rank_order()) {
    return Error{"the operation does not commute and the ranks of a node are not consecutive"};
  }
  Program program = hierarchical_chunks(call, nodes, rank);
  if (call.direct && call.chunks == 1) use_sides(program, call, nodes, rank);
  run_in_sequence(program);
  return program;
}

std::optional<int> chunks_for(const HierarchicalProblem& call, const Nodes& nodes, Rank rank,
                              Bytes bound) {
  HierarchicalProblem tried = call;
  tried.chunks = 1;
  const int own = nodes.node_of(rank);
  const Bytes whole = max_memory(tried, nodes, own);
  if (whole <= bound) return 1;
  const Bytes most = std::min<Bytes>(max_elements(call), max_chunks);
  for (Bytes chunks = 2 * whole / std::max<Bytes>(bound, 1); tried.chunks < most;
       chunks += 1 + chunks / 8) {
    tried.chunks = static_cast<int>(std::clamp<Bytes>(chunks, 2, most));
    if (max_memory(tried, nodes, own) <= bound) return tried.chunks;
  }
  return std::nullopt;
}

}  // namespace tutti
