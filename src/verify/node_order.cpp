/// Follows signals and collectives between nodes with vector clocks.
#include "verify/node_order.hpp"

#include <algorithm>
#include <numeric>

#include "verify/contract.hpp"

namespace tutti {

namespace {

Flaw fault(Rank rank, int operation, const std::string& text) {
  return {rank, operation,
          "rank " + std::to_string(rank) + " operation " + std::to_string(operation) + " " + text};
}

void join(std::vector<int>& seen, const std::vector<int>& other) {
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = std::max(seen[i], other[i]);
}

/// The first difference between the members' calls; empty if there is none.
std::string disagreement(const NodeGraph& graph, const NodeGraph::Meeting& members) {
  const InnerCall& first = graph.call(members.front());
  for (const FlowGraph::Node node : members) {
    const InnerCall& member = graph.call(node);
    if (member.collective != first.collective || member.root != first.root) {
      return "members disagree on the collective or its root";
    }
    if (first.collective == Collective::bcast && !(member.send == member.receive)) {
      return "a bcast has one buffer";
    }
    if (reduces(first.collective) && member.send.counts != first.send.counts) {
      return "members' counts differ";
    }
  }
  return "";
}

/// Adds a transfer of count `out` of member `from` to count `in` of member `to`. Returns the text
/// of a fault, or an empty one.
std::string add(const NodeGraph& graph, const NodeGraph::Meeting& members, int from, BlockIndex out,
                int to, BlockIndex in, std::vector<InnerTransfer>& transfers) {
  const FlowGraph::Node sender = members[index(from)];
  const FlowGraph::Node receiver = members[index(to)];
  const InnerBuffer& source = graph.call(sender).send;
  const InnerBuffer& sink = graph.call(receiver).receive;
  if (index(out) >= source.counts.size() || index(in) >= sink.counts.size() ||
      source.counts.size() != source.displacements.size() ||
      sink.counts.size() != sink.displacements.size()) {
    return "a count is missing";
  }
  const Bytes bytes = sink.counts[index(in)];
  if (source.counts[index(out)] != bytes) {
    return "node " + std::to_string(from) + " sends " + std::to_string(source.counts[index(out)]) +
           " bytes to node " + std::to_string(to) + ", which receives " + std::to_string(bytes);
  }
  const Collective collective = graph.call(sender).collective;
  // The functions of regular collectives and reductions take no displacements.
  const auto is_apart = [&](const InnerBuffer& buffer, BlockIndex at) {
    const bool has_displacements =
        is_irregular(collective) && !reduces(collective) && buffer.counts.size() > 1;
    const auto before = buffer.counts.begin();
    return !has_displacements && bytes > 0 &&
           buffer.displacements[index(at)] != std::accumulate(before, before + at, Bytes{0});
  };
  if (is_apart(source, out) || is_apart(sink, in)) {
    return "a call without displacements has blocks apart";
  }
  const Bytes read_at = source.at + source.displacements[index(out)];
  const Bytes write_at = sink.at + sink.displacements[index(in)];
  transfers.push_back({{sender, source.area, false, {read_at, read_at + bytes}},
                       {receiver, sink.area, true, {write_at, write_at + bytes}},
                       reduces(collective)});
  if (is_irregular(collective) || bytes == transfers.front().source.bytes.bytes()) return "";
  return "a regular call has unequal counts";
}

/// The transfers of the members' calls, by node and the contract of their collective. Empty if
/// members disagree, and then `wrong` names the difference.
std::vector<InnerTransfer> transfers_of(const NodeGraph& graph, const NodeGraph::Meeting& members,
                                        std::string& wrong) {
  const InnerCall& first = graph.call(members.front());
  const int count = static_cast<int>(members.size());
  const Contract contract{first.collective, count, first.root};
  std::vector<InnerTransfer> transfers;
  wrong = disagreement(graph, members);
  for (int to = 0; to < count; ++to) {
    const BlockSeries wanted = contract.after(to);
    for (Block in = 0; in < wanted.count; ++in) {
      for (int from = 0; from < count && wrong.empty(); ++from) {
        const BlockSeries brought = contract.before(from);
        const Block out = wanted[in] - brought.first;  // their stride is 1
        const bool is_kept = from == to && first.collective == Collective::bcast;
        if (out < 0 || out >= brought.count || is_kept) continue;
        wrong = add(graph, members, from, out, to, in, transfers);
      }
    }
  }
  if (!wrong.empty()) return {};
  return transfers;
}

}  // namespace

NodeOrder::Fault NodeOrder::find(const Nodes& nodes, std::span<const Program> programs) {
  nodes_ = &nodes;
  graph_.emplace(placed(programs, nodes));
  transfers_.clear();
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
  return std::nullopt;
}

NodeOrder::Fault NodeOrder::fault_at(Node node, const std::string& text) const {
  return fault(graph_->rank_of(node), graph_->step_of(node), text);
}

NodeOrder::Fault NodeOrder::check_form(Rank rank) {
  const Program& checked = *graph_->place(rank).program;
  const int node = nodes_->node_of(rank);
  const int lanes = graph_->place(0).program->lanes;
  if (checked.lanes != lanes || lanes < 1) return fault(rank, 0, "has other lanes than rank 0");
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
  for (int node = 0; node < nodes_->count(); ++node) {
    const Rank leader = leader_of(lane, node);
    if (index(node) >= meeting.size() || graph_->rank_of(meeting[index(node)]) != leader) {
      return fault(leader, 0, "and later make too few calls on lane " + std::to_string(lane));
    }
  }
  std::string text;
  transfers_.push_back(transfers_of(*graph_, meeting, text));
  if (!text.empty()) return fault_at(meeting.front(), text);
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
  if (kind == OperationKind::call) meet(graph_->meeting_of(node));
}

/// Once all members have made their calls: data shows that its sender has entered; a barrier that
/// all have.
void NodeOrder::meet(std::size_t meeting) {
  const NodeGraph::Meeting& members = graph_->meetings()[meeting];
  const auto seen_by = [&](Node member) -> Clock& { return seen_[index(graph_->rank_of(member))]; };
  for (const Node member : members) {
    if (clocks_[index(member)].empty()) return;
  }
  for (const auto& [source, target, _] : transfers_[meeting]) {
    if (source.bytes.bytes() == 0 || source.operation == target.operation) continue;
    join(seen_by(target.operation), clocks_[index(source.operation)]);
  }
  if (graph_->call(members.front()).collective != Collective::barrier) return;
  Clock all = seen_by(members.front());
  for (const Node member : members) join(all, seen_by(member));
  for (const Node member : members) seen_by(member) = all;
}

}  // namespace tutti
