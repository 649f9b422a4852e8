/// Checks that a call can be hierarchical, and bounds its node memory.
#include "lowering/hierarchical.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

/// By max_chunks and max_operations.
Bytes max_chunks_of(Collective collective, const Nodes& nodes) {
  const BlockKind kind = block_kind(collective);
  const int copies = kind == BlockKind::pairs ? 2 : kind == BlockKind::ranks ? 1 : 0;
  constexpr int further = 10;  // signals, awaits, calls
  const Bytes of_chunk = Bytes{copies} * nodes.p() + nodes.most() + further;
  return std::clamp<Bytes>(max_operations / of_chunk, 1, max_chunks);
}

/// Bounds the memory of node `own`, also with more chunks because other nodes may need them.
Bytes own_memory(const HierarchicalProblem& call, const Nodes& nodes, int own) {
  const Bytes memory = hierarchical_memory(call, nodes, own);
  if (call.chunks > 1) return memory;
  HierarchicalProblem halved = call;
  halved.chunks = 2;
  return std::max(memory, hierarchical_memory(halved, nodes, own));
}

/// The largest bound on the nodes whose sizes node `own` knows.
Bytes max_memory(const HierarchicalProblem& call, const Nodes& nodes, int own) {
  return exchanges_sizes(call.collective) ? own_memory(call, nodes, own)
                                          : hierarchical_memory(call, nodes);
}

}  // namespace

/// Of nodes with equally many ranks, the root's needs most, or else the one whose ranks have the
/// largest blocks.
Bytes hierarchical_memory(const HierarchicalProblem& call, const Nodes& nodes) {
  const std::vector<Bytes> blocks = largest_chunk(call).sizes.by_rank;  // empty if all are equal
  std::map<int, std::pair<Bytes, int>> fullest;  // by ranks: the bytes of a node, and its number
  for (int node = 0; node < nodes.count(); ++node) {
    Bytes bytes = 0;
    for (const Rank rank : nodes.ranks(node)) bytes += blocks.empty() ? 0 : blocks[index(rank)];
    std::pair<Bytes, int>& known = fullest[nodes.size(node)];
    known = std::max(known, std::pair(bytes, node));
  }
  Bytes most =
      has_root(call.collective) ? hierarchical_memory(call, nodes, nodes.node_of(call.root)) : 0;
  for (const auto& [ranks, one] : fullest) {
    most = std::max(most, hierarchical_memory(call, nodes, one.second));
  }
  return most;
}

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
  const Bytes limit = std::min(max_elements(call), max_chunks_of(call.collective, nodes));
  for (Bytes chunks = 2 * whole / std::max<Bytes>(bound, 1); tried.chunks < limit;
       chunks += 1 + chunks / 8) {
    tried.chunks = static_cast<int>(std::clamp<Bytes>(chunks, 2, limit));
    if (max_memory(tried, nodes, own) <= bound) return tried.chunks;
  }
  return std::nullopt;
}

}  // namespace tutti
