/// Resolves the buffers of programs, pairs their messages, and runs all checks.
#include "verify/program.hpp"

#include <algorithm>
#include <climits>
#include <tuple>

namespace tutti {

namespace {

/// A use of bytes in words, which `who` may be `using_them` at the same time.
std::string clash(const ByteAccess& access, const std::string& who, const char* using_them) {
  return std::string(access.writes ? "writes" : "reads") + " bytes " +
         std::to_string(access.bytes.begin) + " to " + std::to_string(access.bytes.end) + " of " +
         name_of(access.area) + ", which " + who + " may be " + using_them;
}

}  // namespace

ProgramVerifier::Fault ProgramVerifier::verify(const ProgramCall& call,
                                               std::span<const Program> programs,
                                               std::span<const BufferLayout> layouts,
                                               std::uint64_t seed) {
  call_ = &call;
  programs_ = programs;
  layouts_ = layouts;
  fault_.reset();
  lay_out();
  for (Rank rank = 0; rank < call.contract.p; ++rank) {
    if (Fault fault = check_form(rank)) return fault;
    if (Fault fault = check_memory(rank)) return fault;
  }
  if (Fault fault = pair_messages()) return fault;
  if (Fault fault = check_slots()) return fault;
  puts_.clear();
  if (is_one_sided(call.contract.collective)) {
    if (Fault fault = check_puts()) return fault;
  }
  if (call.nodes != nullptr) {
    if (Fault fault = check_nodes()) return fault;
  }
  if (Fault fault = execute(seed)) return fault;
  if (is_barrier_) return check_barrier();
  for (Rank rank = 0; rank < call.contract.p; ++rank) {
    if (Fault fault = check_results(rank)) return fault;
  }
  return std::nullopt;
}

const Operation& ProgramVerifier::operation(Node node) const {
  return programs_[index(rank_of(node))].operations[index(number(node))];
}

Flaw ProgramVerifier::fault(Rank rank, int operation, const std::string& text) const {
  std::string who = "rank " + std::to_string(rank);
  if (operation >= 0) {
    const StepId step = programs_[index(rank)].operations[index(operation)].step;
    if (step >= 0) who += " step " + std::to_string(step);
    who += " operation " + std::to_string(operation);
  }
  return {rank, operation, who + " " + text};
}

void ProgramVerifier::refuse(Node node, const std::string& text) {
  if (!fault_) fault_ = fault(rank_of(node), number(node), text);
}

std::string ProgramVerifier::in_words(Node node) const {
  const Operation& named = operation(node);
  std::string text =
      "operation " + std::to_string(number(node)) + " (" + std::string(name_of(named.kind));
  if (named.peer != no_rank) text += " " + std::to_string(named.peer);
  return text + ")";
}

std::string ProgramVerifier::in_words(const ByteSymbols& symbols) const {
  const auto block = std::ranges::upper_bound(origins_, symbols.origin);
  const auto number = block - origins_.begin() - 1;
  return "byte " + std::to_string(symbols.origin - origins_[index(number)]) + " of block " +
         std::to_string(number);
}

void ProgramVerifier::lay_out() {
  const std::vector<Bytes>& sizes = call_->sizes;
  origins_.assign(1, 0);
  for (const Bytes bytes : sizes) origins_.push_back(origins_.back() + bytes);
  const std::size_t p = programs_.size();
  graph_.clear();
  for (const Program& program : programs_) graph_.add_rank(program.operations.size());
  const std::size_t nodes = index(graph_.nodes());
  uses_.assign(nodes, {});
  accesses_.clear();
  early_.assign(nodes, 0);
  if (memory_.size() < p) memory_.resize(p);
  for (std::size_t rank = 0; rank < p; ++rank) {
    memory_[rank].start(*call_, origins_, static_cast<Rank>(rank), layouts_[rank], programs_[rank]);
  }
  const Contract& contract = call_->contract;
  is_barrier_ = block_kind(contract.collective) == BlockKind::none;
  held_.assign(reduces(contract.collective) ? 0 : p, {});
  for (std::size_t rank = 0; rank < held_.size(); ++rank) {
    const BlockSeries brought = contract.before(static_cast<Rank>(rank));
    for (Block i = 0; i < brought.count; ++i) {
      const Bytes begin = origins_[index(brought[i])];
      const Bytes bytes = sizes[index(brought[i])];
      held_[rank].write({begin, begin + bytes}, {{0, bytes, begin}}, 0);
    }
  }
  const int count = call_->nodes == nullptr ? 0 : call_->nodes->count();
  node_memory_.assign(index(count), {});
}

/// Needs and waits name earlier operations only.
ProgramVerifier::Fault ProgramVerifier::check_form(Rank rank) {
  const Program& program = programs_[index(rank)];
  const int count = static_cast<int>(program.operations.size());
  for (int i = 0; i < count; ++i) {
    const Operation& operation = program.operations[index(i)];
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      const int other = program.needs[index(need)];
      if (other < 0 || other >= i) {
        return fault(rank, i,
                     "needs operation " + std::to_string(other) + ", which is not before it");
      }
    }
    const auto needs = program.needs.begin();
    const bool in_sequence =
        i == 0 || std::find(needs + operation.first_need, needs + operation.last_need, i - 1) !=
                      needs + operation.last_need;
    if (!in_sequence && (call_->nodes != nullptr || is_one_sided(call_->contract.collective))) {
      return fault(rank, i, "does not need the one before, although its rank shares memory");
    }
    const bool on_node = operation.kind >= OperationKind::signal ||
                         operation.from.area == Area::node || operation.to.area == Area::node;
    if (on_node && call_->nodes == nullptr) {
      return fault(rank, i, "uses node memory, which its rank lacks");
    }
    if (operation.kind == OperationKind::call &&
        (operation.call < 0 || index(operation.call) >= program.calls.size())) {
      return fault(rank, i, "makes a call that its program lacks");
    }
    const bool waits = operation.kind == OperationKind::wait;
    if (waits && operation.first_need < operation.last_need) {
      return fault(rank, i, "is a wait, whose needs nobody awaits");
    }
    const bool names_some = waits && operation.first < operation.last;
    if (names_some && (operation.first < 0 || operation.last > i)) {
      return fault(rank, i, "waits for operations that are not before it");
    }
  }
  return std::nullopt;
}

std::string ProgramVerifier::find(Node node, const InnerBuffer& buffer, bool writes) {
  for (std::size_t i = 0; i < buffer.counts.size(); ++i) {
    if (i == buffer.displacements.size()) return "has a count without a displacement";
    const BufferRef ref = {buffer.area, {}, buffer.at + buffer.displacements[i], buffer.counts[i]};
    std::string wrong = memory_[index(rank_of(node))].find(ref, node, writes, accesses_);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

/// Finds the bytes that an operation reads, then those that it writes. In a bcast between nodes
/// the root only reads its buffer, and all others only write it.
std::string ProgramVerifier::find(Node node) {
  const Rank rank = rank_of(node);
  const Operation& named = operation(node);
  RankMemory& memory = memory_[index(rank)];
  const bool calls = named.kind == OperationKind::call;
  const InnerCall* call = calls ? &programs_[index(rank)].calls[index(named.call)] : nullptr;
  const bool is_bcast = calls && call->collective == Collective::bcast;
  const bool is_root = calls && call_->nodes->node_of(rank) == call->root;
  const bool local = named.kind == OperationKind::copy || named.kind == OperationKind::reduce;
  Uses& found = uses_[index(node)];
  std::string wrong;
  found.first = accesses_.size();
  const bool puts = named.kind == OperationKind::put;
  if (puts && (named.peer < 0 || named.peer >= call_->contract.p || named.peer == rank)) {
    return "puts to no other rank";
  }
  if (local || puts || named.kind == OperationKind::send) {
    wrong = memory.find(named.from, node, false, accesses_);
  }
  if (calls && (!is_bcast || is_root)) wrong = find(node, call->send, false);
  found.middle = found.last = accesses_.size();
  if (!wrong.empty()) return wrong;
  if (puts) wrong = memory_[index(named.peer)].find(named.to, node, true, accesses_);
  if (local || named.kind == OperationKind::recv) {
    wrong = memory.find(named.to, node, true, accesses_);
  }
  if (calls && (!is_bcast || !is_root)) wrong = find(node, call->receive, true);
  found.last = accesses_.size();
  if (wrong.empty() && (local || puts) && named.from.bytes != named.to.bytes) {
    wrong = (puts ? "puts " : "copies ") + std::to_string(named.from.bytes) + " bytes to " +
            std::to_string(named.to.bytes);
  }
  return wrong;
}

ProgramVerifier::Fault ProgramVerifier::check_memory(Rank rank) {
  order_.start(programs_[index(rank)]);
  used_.clear();
  for (Node node = graph_.node(rank, 0); node < graph_.end(rank); ++node) {
    if (std::string wrong = find(node); !wrong.empty()) return fault(rank, number(node), wrong);
    const bool in_background = operation(node).runner == Runner::background;
    const bool is_early = in_background && !order_.is_after_arrival(number(node));
    early_[index(node)] = is_early ? 1 : 0;
    const auto is_result = [](const ByteAccess& one) { return one.area == Area::receive; };
    if (is_early && reduces(call_->contract.collective) &&
        std::ranges::any_of(targets(node), is_result)) {
      return fault(rank, number(node), "may write results before the rank arrives");
    }
    used_.insert(used_.end(), sources(node).begin(), sources(node).end());
    if (!is_put(node)) used_.insert(used_.end(), targets(node).begin(), targets(node).end());
  }
  const auto found = find_conflict(used_, [&](Node first, Node second) {
    return order_.is_before(number(first), number(second));
  });
  if (!found) return check_tags(rank);
  const auto& [one, other] = *found;
  if (one.operation == other.operation) {
    return fault(rank, number(one.operation),
                 std::string("uses overlapping bytes of ") + name_of(one.area));
  }
  return fault(rank, number(other.operation),
               clash(other, in_words(one.operation), one.writes ? "writing" : "reading"));
}

/// The MPI cannot tell messages of one tag apart, so those before must have begun.
ProgramVerifier::Fault ProgramVerifier::check_tags(Rank rank) {
  const std::vector<Operation>& all = programs_[index(rank)].operations;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_message =
        all[i].kind == OperationKind::send || all[i].kind == OperationKind::recv;
    if (!is_message || all[i].message < message_tags) continue;
    const auto has_its_tag = [&](const Operation& other) {
      return other.kind == all[i].kind && other.peer == all[i].peer &&
             other.message == all[i].message - message_tags;
    };
    const auto before = static_cast<int>(std::ranges::find_if(all, has_its_tag) - all.begin());
    const auto later = static_cast<int>(i);
    if (before < later && order_.is_before(before, later)) continue;
    return fault(rank, later,
                 "may begin before operation " + std::to_string(before) +
                     ", whose message has the same tag");
  }
  return std::nullopt;
}

/// Checks what the ranks of nodes share: signals, collectives between nodes, and node memory.
ProgramVerifier::Fault ProgramVerifier::check_nodes() {
  if (Fault fault = node_order_.find(*call_->nodes, programs_)) return fault;
  for (int node = 0; node < call_->nodes->count(); ++node) {
    if (Fault fault = check_node_memory(node)) return fault;
  }
  return std::nullopt;
}

ProgramVerifier::Fault ProgramVerifier::check_node_memory(int node) {
  used_.clear();
  for (const ByteAccess& access : accesses_) {
    if (access.area != Area::node) continue;
    if (call_->nodes->node_of(rank_of(access.operation)) == node) used_.push_back(access);
  }
  for (const ByteAccess& access : used_) {
    const Rank rank = rank_of(access.operation);
    for (const Rank other : call_->nodes->ranks(node)) {
      if (!access.writes || node_order_.has_left(other, access.operation)) continue;
      return fault(rank, number(access.operation),
                   clash(access, "rank " + std::to_string(other), "using in the call before"));
    }
  }
  const auto found = find_conflict(used_, [&](Node first, Node second) {
    return node_order_.is_before(first, second) || node_order_.is_before(second, first);
  });
  if (!found) return std::nullopt;
  const auto& [first, second] = *found;
  const std::string who =
      in_words(first.operation) + " of rank " + std::to_string(rank_of(first.operation));
  return fault(rank_of(second.operation), number(second.operation),
               clash(second, who, first.writes ? "writing" : "reading"));
}

/// The messages to or from a peer count from 0, because the MPI knows them by their numbers.
ProgramVerifier::Fault ProgramVerifier::pair_messages() {
  std::map<std::tuple<Rank, Rank, OperationKind>, int> numbers;
  for (Node node = 0; node < graph_.nodes(); ++node) {
    const Operation& named = operation(node);
    const bool sends = named.kind == OperationKind::send;
    if (!sends && named.kind != OperationKind::recv) continue;
    const Rank rank = rank_of(node);
    if (named.peer == rank) return fault(rank, number(node), "has its own rank as its peer");
    if (named.message != numbers[{rank, named.peer, named.kind}]++) {
      return fault(rank, number(node), "has a message whose number does not follow that before");
    }
    sends ? graph_.add_send(node, named.peer) : graph_.add_recv(node, named.peer);
  }
  if (const Node alone = graph_.pair_messages(); alone != none) {
    return fault(rank_of(alone), number(alone),
                 "is a " + std::string(name_of(operation(alone).kind)) +
                     " without a partner at rank " + std::to_string(operation(alone).peer));
  }
  for (Node node = 0; node < graph_.nodes(); ++node) {
    const Operation& named = operation(node);
    if (named.kind != OperationKind::send) continue;
    if (const Bytes expected = operation(partner(node)).to.bytes; named.from.bytes != expected) {
      return fault(rank_of(node), number(node),
                   "sends " + std::to_string(named.from.bytes) + " bytes to rank " +
                       std::to_string(named.peer) + ", which receives " + std::to_string(expected));
    }
  }
  return std::nullopt;
}

/// Where messages may wait for a slot, those that hold one complete, whatever the others wait for:
/// the other end needs neither another message nor a slot.
ProgramVerifier::Fault ProgramVerifier::check_slots() {
  std::vector<int> holders(programs_.size(), 0);
  std::vector<int> slots(programs_.size(), INT_MAX);
  for (Node node = 0; node < graph_.nodes(); ++node) {
    if (operation(node).slots == 0) continue;
    ++holders[index(rank_of(node))];
    int& least = slots[index(rank_of(node))];
    least = std::min(least, operation(node).slots);
  }
  const auto may_wait = [&](Node node) {
    const std::size_t rank = index(rank_of(node));
    return operation(node).slots > 0 && holders[rank] > slots[rank];
  };
  for (Node node = 0; node < graph_.nodes(); ++node) {
    const Node other = partner(node);
    if (other == none || !may_wait(node)) continue;
    const Rank peer = rank_of(other);
    const std::string holds = "may hold a slot for ever: rank " + std::to_string(peer) + "'s " +
                              in_words(other) + " needs ";
    if (may_wait(other)) return fault(rank_of(node), number(node), holds + "a slot");
    order_.start(programs_[index(peer)]);
    for (Node before = graph_.node(peer, 0); before < other; ++before) {
      if (partner(before) == none || !order_.is_before(number(before), number(other))) continue;
      return fault(rank_of(node), number(node), holds + "its " + in_words(before));
    }
  }
  return std::nullopt;
}

}  // namespace tutti
