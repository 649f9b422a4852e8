/// Lowers the calls of all ranks from global data.
#include "algorithms/hierarchical_problems.hpp"

#include <algorithm>

#include "lowering/node_graph.hpp"

namespace tutti {

namespace {

/// The inner call of these members, with its sizes by node.
Call call_between(std::span<const InnerCall* const> members, Bytes unit) {
  const InnerCall& first = *members.front();
  Call call;
  call.collective = first.collective;
  call.root = first.root;
  call.sizes.assign(members.size(), 0);
  for (std::size_t node = 0; node < members.size(); ++node) {
    const InnerCall& member = *members[node];
    if (first.collective == Collective::alltoallv) {
      call.pairs.insert(call.pairs.end(), member.send.counts.begin(), member.send.counts.end());
    } else if (is_scatter(first.collective)) {
      call.sizes[node] = members[index(first.root)]->send.counts[node];
    } else if (is_reduce_scatter(first.collective)) {
      call.sizes[node] = first.send.counts[node];
    } else if (first.collective != Collective::barrier) {
      call.sizes[node] = member.send.counts.front();
    }
  }
  if (reduces(call.collective) || block_kind(call.collective) == BlockKind::parts) call.unit = unit;
  return call;
}

}  // namespace

HierarchicalProblem hierarchical_problem(const Call& call, const Nodes& nodes, int node,
                                         const HierarchicalOptions& options) {
  HierarchicalProblem seen{options, call.collective, call.root, call.unit, {}};
  seen.in_place = false;
  if (call.collective == Collective::alltoallv) {
    for (const Rank rank : nodes.ranks(node)) {
      for (Rank other = 0; other < call.p(); ++other) {
        seen.sizes.sent.push_back(call.pair(rank, other));
        seen.sizes.received.push_back(call.pair(other, rank));
      }
    }
  } else if (is_irregular(call.collective)) {
    seen.sizes.by_rank = call.sizes;
    const bool root_knows = exchanges_sizes(call.collective);
    for (Rank rank = 0; root_knows && rank < call.p(); ++rank) {
      const bool unknown = nodes.node_of(rank) != node && nodes.node_of(call.root) != node;
      if (unknown) seen.sizes.by_rank[index(rank)] = -1;
    }
  } else {
    seen.sizes.each = call.sizes.front();
  }
  return seen;
}

bool keeps_in_place(const Call& call, Rank rank) {
  return can_be_in_place(call.collective, rank, call.root) && !is_reduce_scatter(call.collective);
}

Result<std::vector<Program>> hierarchical_programs(const Call& call, const Nodes& nodes,
                                                   const HierarchicalOptions& options) {
  std::vector<Program> programs(index(call.p()));
  for (int node = 0; node < nodes.count(); ++node) {
    HierarchicalProblem seen = hierarchical_problem(call, nodes, node, options);
    for (const Rank rank : nodes.ranks(node)) {
      seen.in_place = options.in_place && keeps_in_place(call, rank);
      Result<Program> program = hierarchical_program(seen, nodes, rank);
      if (!program) return Error{"runs flat because " + program.error()};
      programs[index(rank)] = std::move(*program);
    }
  }
  return programs;
}

Result<int> agreed_chunks(const Call& call, const Nodes& nodes, const HierarchicalOptions& options,
                          Bytes bound) {
  int chunks = 1;
  for (int node = 0; node < nodes.count(); ++node) {
    const HierarchicalProblem seen = hierarchical_problem(call, nodes, node, options);
    const auto own = chunks_for(seen, nodes, nodes.rank_at(node, 0), bound);
    if (!own) {
      return Error{"runs flat because " + std::to_string(bound) +
                   " bytes of node memory are too few for the call"};
    }
    chunks = std::max(chunks, *own);
  }
  return chunks;
}

std::vector<Call> inner_calls(std::span<const Program> programs, const Nodes& nodes, Bytes unit) {
  const NodeGraph graph(placed(programs, nodes));
  std::vector<Call> calls;
  for (const NodeGraph::Meeting& meeting : graph.meetings()) {
    std::vector<const InnerCall*> members;
    for (const NodeGraph::Node member : meeting) members.push_back(&graph.call(member));
    calls.push_back(call_between(members, unit));
  }
  return calls;
}

}  // namespace tutti
