/// Finds what operations need from signals and from collectives between nodes.
#include "lowering/node_graph.hpp"

#include <algorithm>

namespace tutti {

std::vector<PlacedProgram> placed(std::span<const Program> programs, const Nodes& nodes) {
  std::vector<PlacedProgram> ranks;
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    ranks.push_back({&programs[index(rank)], nodes.node_of(rank), nodes.local_of(rank)});
  }
  return ranks;
}

NodeGraph::NodeGraph(std::vector<PlacedProgram> ranks)
    : ranks_(std::move(ranks)), signals_(ranks_.size()) {
  std::map<std::pair<int, int>, Meeting> meetings;  // by lane and number
  for (const PlacedProgram& one : ranks_) {
    const Rank rank = p();
    add_rank(one.program->operations.size());
    at_[{one.node, one.local}] = rank;
    std::map<int, int> called;  // by lane
    for (Node at = node(rank, 0); at < end(rank); ++at) {
      const Operation& each = operation(at);
      if (at > node(rank, 0)) add_need(at, at - 1);
      if (each.kind == OperationKind::signal) {
        signals_[index(rank)].emplace_back(each.sequence, step_of(at));
      } else if (each.kind == OperationKind::call) {
        const int lane = call(at).lane;
        meetings[{lane, called[lane]++}].push_back(at);
      }
    }
  }
  for (auto& [_, members] : meetings) {
    std::ranges::sort(members, {}, [&](Node call) { return place(rank_of(call)).node; });
    for (const Node member : members) {
      meeting_of_[member] = meetings_.size();
      const Node next = member + 1;
      for (const Node other : members) {
        if (next < end(rank_of(member)) && other != member) add_need(next, other);
      }
    }
    meetings_.push_back(std::move(members));
  }
  for (Node at = 0; at < nodes(); ++at) {
    if (operation(at).kind != OperationKind::await) continue;
    for_each_signal(at, [&](Rank rank, int signal) {
      if (signal < 0) return;
      // Without a signal it needs itself, and so never completes.
      add_need(at, signal < steps(rank) ? node(rank, signal) : at);
    });
  }
}

int NodeGraph::signal_of(Rank rank, int sequence) const {
  if (sequence <= 0) return -1;
  const auto found = std::ranges::find_if(
      signals_[index(rank)], [&](const auto& signal) { return signal.first >= sequence; });
  return found == signals_[index(rank)].end() ? steps(rank) : found->second;
}

std::vector<FlowGraph::Node> NodeGraph::sequence() const {
  Flow flow;
  flow.start(*this);
  std::vector<Node> all;
  for (Node node = flow.take_posted(); node != none; node = flow.take_posted()) {
    all.push_back(node);
    flow.complete(node);
  }
  return all;
}

}  // namespace tutti
