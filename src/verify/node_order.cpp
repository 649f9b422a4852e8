/// Follows signals and collectives between nodes with vector clocks.
#include "verify/node_order.hpp"

#include <algorithm>

namespace tutti {

namespace {

Flaw fault(Rank rank, int operation, const std::string& text) {
  return {rank, operation,
          "rank " + std::to_string(rank) + " operation " + std::to_string(operation) + " " + text};
}

void join(std::vector<int>& seen, const std::vector<int>& other) {
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = std::max(seen[i], other[i]);
}

}  // namespace

NodeOrder::Fault NodeOrder::find(const Nodes& nodes, std::span<const Program> programs,
                                 Collective collective) {
  nodes_ = &nodes;
  graph_.emplace(placed(programs, nodes));
  calls_.clear();
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    if (Fault found = check_form(rank)) return found;
  }
  for (const NodeGraph::Meeting& meeting : graph_->meetings()) {
    if (Fault found = match(meeting)) return found;
  }
  clocks_.assign(index(graph_->nodes()), {});
  seen_.assign(index(nodes.p()), Clock(index(nodes.p()), 0));
  for (Rank rank = 0; rank < nodes.p(); ++rank) seen_[index(rank)][index(rank)] = 1;
  for (const Node node : graph_->sequence()) complete(node);
  for (Node node = 0; node < graph_->nodes(); ++node) {
    if (!clocks_[index(node)].empty()) continue;
    return fault_at(node,
                    "(" + std::string(name_of(graph_->operation(node).kind)) + ") never completes");
  }
  for (Rank rank = 0; rank < nodes.p() && collective == Collective::barrier; ++rank) {
    const Clock& seen = seen_[index(rank)];
    const auto missing = std::ranges::find_if(seen, [](int done) { return done < 2; });
    if (missing == seen.end()) continue;
    return fault_at(graph_->end(rank) - 1,
                    "may leave before rank " + std::to_string(missing - seen.begin()) + " enters");
  }
  return std::nullopt;
}

NodeOrder::Fault NodeOrder::fault_at(Node node, const std::string& text) const {
  return fault(graph_->rank_of(node), graph_->step_of(node), text);
}

NodeOrder::Fault NodeOrder::check_form(Rank rank) {
  const Program& checked = *graph_->place(rank).program;
  const int node = nodes_->node_of(rank);
  int last = 0;
  for (int i = 0; i < static_cast<int>(checked.operations.size()); ++i) {
    const Operation& operation = checked.operations[index(i)];
    if (operation.kind == OperationKind::signal) {
      if (operation.sequence <= last) return fault(rank, i, "signals no more than before");
      last = operation.sequence;
    } else if (operation.kind == OperationKind::call) {
      const int lane = checked.calls[index(operation.call)].lane;
      if (lane < 0 || lane >= checked.lanes || leader_of(lane, node) != rank) {
        return fault(rank, i, "does not lead lane " + std::to_string(lane));
      }
    } else if (operation.kind == OperationKind::await &&
               (operation.first < 0 || operation.last > nodes_->size(node))) {
      return fault(rank, i, "awaits a rank that its node lacks");
    }
  }
  const Program& first = *graph_->place(nodes_->rank_at(node, 0)).program;
  const int end = static_cast<int>(checked.operations.size()) - 1;
  const bool ends = end >= 0 && checked.operations.back().kind == OperationKind::signal &&
                    last == checked.sequence_numbers && last == first.sequence_numbers &&
                    checked.node_memory == first.node_memory;
  if (ends) return std::nullopt;
  return fault(rank, end, "does not end the call by the signal that the node expects");
}

Rank NodeOrder::leader_of(int lane, int node) const {
  const int lanes = graph_->place(0).program->lanes;
  return nodes_->rank_at(node, lane_leader(lane, lanes, nodes_->size(node)));
}

NodeOrder::Fault NodeOrder::match(const NodeGraph::Meeting& meeting) {
  const int lane = graph_->call(meeting.front()).lane;
  MatchedCall matched{meeting, {}};
  std::vector<const InnerCall*> members;
  for (int node = 0; node < nodes_->count(); ++node) {
    const Rank leader = leader_of(lane, node);
    if (index(node) >= meeting.size() || graph_->rank_of(meeting[index(node)]) != leader) {
      return fault(leader, 0, "and later make too few calls on lane " + std::to_string(lane));
    }
    members.push_back(&graph_->call(meeting[index(node)]));
  }
  std::string text;
  matched.transfers = transfers_of(members, text);
  if (!text.empty()) return fault_at(meeting.front(), text);
  calls_.push_back(std::move(matched));
  return std::nullopt;
}

/// Completes an operation, after all that it needs.
void NodeOrder::complete(Node node) {
  const Rank rank = graph_->rank_of(node);
  Clock& seen = seen_[index(rank)];
  const OperationKind kind = graph_->operation(node).kind;
  if (kind == OperationKind::await) {
    graph_->for_each_signal(node, [&](Rank other, int signal) {
      if (signal >= 0) join(seen, clocks_[index(graph_->node(other, signal))]);
      int& known = seen[index(other)];
      known = std::max(known, signal + 2);
    });
  }
  clocks_[index(node)] = seen;
  seen[index(rank)] = graph_->step_of(node) + 2;
  if (kind == OperationKind::call) meet(calls_[graph_->meeting_of(node)]);
}

/// Once all members have made their calls: data shows that its sender has entered; a barrier that
/// all have.
void NodeOrder::meet(const MatchedCall& call) {
  const auto rank_of = [&](int member) {
    return index(graph_->rank_of(call.members[index(member)]));
  };
  for (const Node member : call.members) {
    if (clocks_[index(member)].empty()) return;
  }
  for (const InnerTransfer& transfer : call.transfers) {
    if (transfer.bytes == 0 || transfer.from == transfer.to) continue;
    join(seen_[rank_of(transfer.to)], clocks_[index(call.members[index(transfer.from)])]);
  }
  if (graph_->call(call.members.front()).collective != Collective::barrier) return;
  Clock all = seen_[rank_of(0)];
  const int members = static_cast<int>(call.members.size());
  for (int member = 0; member < members; ++member) join(all, seen_[rank_of(member)]);
  for (int member = 0; member < members; ++member) seen_[rank_of(member)] = all;
}

}  // namespace tutti
