/// Follows signals and collectives between nodes with vector clocks.
#include "verify/node_order.hpp"

#include <algorithm>

#include "core/index.hpp"

namespace tutti {

namespace {

ProgramFault fault(Rank rank, int operation, const std::string& text) {
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
  programs_ = programs;
  const int p = nodes.p();
  signals_.assign(index(p), {});
  calls_of_.assign(index(p), {});
  calls_.clear();
  clocks_.assign(index(p), {});
  seen_.assign(index(p), Clock(index(p), 0));
  for (Rank rank = 0; rank < p; ++rank) {
    if (Fault found = check_form(rank)) return found;
    seen(rank)[index(rank)] = 1;
  }
  if (Fault found = match_calls()) return found;
  for (bool moved = true; moved;) {
    moved = false;
    for (Rank rank = 0; rank < p; ++rank) {
      while (next(rank) != nullptr && advance(rank)) moved = true;
    }
  }
  for (Rank rank = 0; rank < p; ++rank) {
    if (const Operation* open = next(rank)) {
      return fault(rank, done(rank), "(" + std::string(name_of(open->kind)) + ") never completes");
    }
    const auto missing = std::find_if(seen(rank).begin(), seen(rank).end(),
                                      [](int operations) { return operations < 2; });
    if (collective != Collective::barrier || missing == seen(rank).end()) continue;
    return fault(
        rank, done(rank) - 1,
        "may leave before rank " + std::to_string(missing - seen(rank).begin()) + " enters");
  }
  return std::nullopt;
}

const Operation* NodeOrder::next(Rank rank) const {
  const auto& operations = program(rank).operations;
  const auto at = index(done(rank));
  return at < operations.size() ? &operations[at] : nullptr;
}

int NodeOrder::signal_of(Rank rank, int sequence) const {
  if (sequence <= 0) return -1;
  for (const auto& [value, operation] : signals_[index(rank)]) {
    if (value >= sequence) return operation;
  }
  return static_cast<int>(program(rank).operations.size());
}

NodeOrder::Fault NodeOrder::check_form(Rank rank) {
  const Program& checked = program(rank);
  const int node = nodes_->node_of(rank);
  int last = 0;
  for (int i = 0; i < static_cast<int>(checked.operations.size()); ++i) {
    const Operation& operation = checked.operations[index(i)];
    if (operation.kind == OperationKind::signal) {
      if (operation.sequence <= last) return fault(rank, i, "signals no more than before");
      last = operation.sequence;
      signals_[index(rank)].emplace_back(last, i);
    } else if (operation.kind == OperationKind::call) {
      calls_of_[index(rank)].push_back(i);
    } else if (operation.kind == OperationKind::await &&
               (operation.first < 0 || operation.last > nodes_->size(node))) {
      return fault(rank, i, "awaits a rank that its node lacks");
    }
  }
  const Program& first = program(nodes_->rank_at(node, 0));
  const int end = static_cast<int>(checked.operations.size()) - 1;
  const bool ends = end >= 0 && checked.operations.back().kind == OperationKind::signal &&
                    last == checked.sequence_numbers && last == first.sequence_numbers &&
                    checked.node_memory == first.node_memory;
  if (ends) return std::nullopt;
  return fault(rank, end, "does not end the call by the signal that the node expects");
}

NodeOrder::Fault NodeOrder::match_calls() {
  const int lanes = programs_.front().lanes;
  std::vector<std::size_t> made(index(lanes), 0);
  for (Rank rank = 0; rank < nodes_->p(); ++rank) {
    const int ranks = nodes_->size(nodes_->node_of(rank));
    std::vector<std::size_t> own(index(lanes), 0);
    for (const int operation : calls_of_[index(rank)]) {
      const int lane =
          program(rank).calls[index(program(rank).operations[index(operation)].call)].lane;
      if (lane < 0 || lane >= lanes || lane_leader(lane, lanes, ranks) != nodes_->local_of(rank)) {
        return fault(rank, operation, "does not lead lane " + std::to_string(lane));
      }
      made[index(lane)] = std::max(made[index(lane)], ++own[index(lane)]);
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    for (std::size_t number = 0; number < made[index(lane)]; ++number) {
      if (Fault found = match(lane, number)) return found;
    }
  }
  return std::nullopt;
}

/// Finds the members of a lane's call of that number.
NodeOrder::Fault NodeOrder::match(int lane, std::size_t number) {
  MatchedCall matched;
  std::vector<const InnerCall*> members;
  for (int node = 0; node < nodes_->count(); ++node) {
    const Rank rank =
        nodes_->rank_at(node, lane_leader(lane, programs_.front().lanes, nodes_->size(node)));
    std::size_t before = 0;
    for (const int operation : calls_of_[index(rank)]) {
      const InnerCall& call =
          program(rank).calls[index(program(rank).operations[index(operation)].call)];
      if (call.lane != lane || before++ != number) continue;
      matched.ranks.push_back(rank);
      matched.operations.push_back(operation);
      members.push_back(&call);
    }
    if (members.size() != index(node) + 1) {
      return fault(rank, done(rank),
                   "and later make too few calls on lane " + std::to_string(lane));
    }
  }
  std::string text;
  matched.transfers = transfers_of(members, text);
  if (!text.empty()) return fault(matched.ranks.front(), matched.operations.front(), text);
  calls_.push_back(std::move(matched));
  return std::nullopt;
}

/// Completes the rank's next operation; false if it must wait.
bool NodeOrder::advance(Rank rank) {
  const Operation& operation = *next(rank);
  if (operation.kind == OperationKind::call) return enter(rank);
  if (operation.kind == OperationKind::await && !await(rank, operation)) return false;
  complete(rank);
  return true;
}

void NodeOrder::complete(Rank rank) {
  clocks_[index(rank)].push_back(seen(rank));
  seen(rank)[index(rank)] = done(rank) + 1;
}

bool NodeOrder::await(Rank rank, const Operation& operation) {
  const std::span<const Rank> ranks = nodes_->ranks(nodes_->node_of(rank));
  for (int local = operation.first; local < operation.last; ++local) {
    const Rank other = ranks[index(local)];
    if (signal_of(other, operation.sequence) >= done(other)) return false;
  }
  for (int local = operation.first; local < operation.last; ++local) {
    const Rank other = ranks[index(local)];
    const int signal = signal_of(other, operation.sequence);
    if (signal >= 0) join(seen(rank), clock(other, signal));
    int& known = seen(rank)[index(other)];
    known = std::max(known, signal + 2);
  }
  return true;
}

/// Completes the call of the rank once all its members are there. Data shows that its sender has
/// entered; a barrier that all have.
bool NodeOrder::enter(Rank rank) {
  const auto matched = std::find_if(calls_.begin(), calls_.end(), [&](const MatchedCall& call) {
    const auto member = std::find(call.ranks.begin(), call.ranks.end(), rank);
    return member != call.ranks.end() &&
           call.operations[index(member - call.ranks.begin())] == done(rank);
  });
  for (std::size_t i = 0; i < matched->ranks.size(); ++i) {
    if (done(matched->ranks[i]) != matched->operations[i]) return false;
  }
  for (const Rank member : matched->ranks) complete(member);
  for (const InnerTransfer& transfer : matched->transfers) {
    if (transfer.bytes == 0 || transfer.from == transfer.to) continue;
    const auto from = index(transfer.from);
    join(seen(matched->ranks[index(transfer.to)]),
         clock(matched->ranks[from], matched->operations[from]));
  }
  const Rank first = matched->ranks.front();
  const Operation& made = program(first).operations[index(matched->operations.front())];
  if (program(first).calls[index(made.call)].collective != Collective::barrier) return true;
  const std::vector<Clock> entered = seen_;
  for (const Rank member : matched->ranks) {
    for (const Rank other : matched->ranks) join(seen(member), entered[index(other)]);
  }
  return true;
}

}  // namespace tutti
