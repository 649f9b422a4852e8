/// Executes programs in one of many sequences, and checks the results.
#include <algorithm>
#include <random>

#include "verify/program.hpp"

namespace tutti {

/// Calls visit(other) for each operation that `node` needs. An await needs the signals that it
/// awaits.
template <class Visit>
void ProgramVerifier::for_each_need(Node node, Visit visit) const {
  const Rank rank = rank_of(node);
  const Operation& named = operation(node);
  for (int need = named.first_need; need < named.last_need; ++need) {
    visit(graph_.node(rank, programs_[index(rank)].needs[index(need)]));
  }
  if (named.kind != OperationKind::await) return;
  node_order_.graph().for_each_signal(node, [&](Rank other, int signal) {
    if (signal >= 0) visit(graph_.node(other, signal));
  });
}

ProgramVerifier::Fault ProgramVerifier::execute(std::uint64_t seed) {
  const int p = call_->contract.p;
  for (Node node = 0; node < graph_.nodes(); ++node) {
    const Operation& named = operation(node);
    graph_.task(node) = {named.kind == OperationKind::wait, named.first, named.last, named.slots,
                         partner(node)};
    for_each_need(node, [&](Node need) { graph_.add_need(node, need); });
  }
  begun_.assign(index(graph_.nodes()), 0);
  sent_.resize(index(graph_.nodes()));
  states_.resize(index(p));
  pending_.clear();
  sets_.start(p, p);
  unions_.clear();
  for (Rank rank = 0; rank < p; ++rank) {
    sets_.insert(rank, rank);
    states_[index(rank)].arrived = false;
    states_[index(rank)].held.clear();
    pending_.push_back(~rank);
  }
  if (is_barrier_) entered_.start(p, graph_.nodes() + p);

  // To seed a Mersenne Twister takes longer than most programs.
  std::minstd_rand random(static_cast<std::uint32_t>(seed) + 1);
  flow_.start(graph_);
  while (!fault_) {
    if (const Node node = flow_.take_posted(); node != none) {
      start(node);
    } else if (!pending_.empty()) {
      std::swap(pending_[random() % pending_.size()], pending_.back());
      const int event = pending_.back();
      pending_.pop_back();
      if (event >= 0) {
        deliver(event);
      } else {
        states_[index(~event)].arrived = true;
        for (const Node held : states_[index(~event)].held) start(held);
      }
    } else {
      break;
    }
  }
  if (fault_ || flow_.all_done()) return fault_;
  const Flaw flaw = flow_.deadlock([this](Node node) { return in_words(node); });
  return fault(flaw.rank, flaw.step, "never completes: " + flaw.text);
}

/// Notes the ranks that have entered a barrier before the operation starts, at any timing: its own
/// unless the background thread may be early, and those before the operations that it needs or that
/// waits before it name.
void ProgramVerifier::note_entered(Node node) {
  const Rank rank = rank_of(node);
  if (early_[index(node)] == 0) entered_.insert(node, rank);
  for_each_need(node, [&](Node need) { entered_.insert_all(node, need); });
  for (Node earlier = graph_.node(rank, 0); earlier < node; ++earlier) {
    const Operation& wait = operation(earlier);
    if (wait.kind != OperationKind::wait) continue;
    for (int other = wait.first; other < wait.last; ++other) {
      entered_.insert_all(node, graph_.node(rank, other));
    }
  }
}

/// Starts a posted operation, or holds it back.
void ProgramVerifier::start(Node node) {
  const Rank rank = rank_of(node);
  const Operation& begins = operation(node);
  RankState& state = states_[index(rank)];
  if (!state.arrived && begins.runner == Runner::caller) return state.held.push_back(node);
  if (is_barrier_) note_entered(node);
  if (begins.kind == OperationKind::copy || begins.kind == OperationKind::reduce) {
    run_local(node);
    return flow_.complete(node);
  }
  if (begins.kind == OperationKind::put) {
    sent_[index(node)] = read(node, sources(node));
  }
  if (begins.kind == OperationKind::call) return enter(node);
  if (partner(node) == none) return flow_.complete(node);  // an await needs its signals
  begun_[index(node)] = 1;
  if (begun_[index(partner(node))] == 0) return;
  pending_.push_back(begins.kind == OperationKind::send ? node : partner(node));
}

void ProgramVerifier::deliver(Node send) {
  const Node recv = partner(send);
  const auto message = read(send, sources(send));
  for (const Put& put : std::ranges::equal_range(puts_, recv, {}, &Put::recv)) {
    note_received(recv, sent_[index(put.put)]);
    write(recv, targets(put.put), sent_[index(put.put)]);
  }
  note_received(recv, message);
  write(recv, targets(recv), message);
  if (is_barrier_) entered_.insert_all(recv, send);
  flow_.complete(send);
  flow_.complete(recv);
}

/// Every byte comes once, and to no rank that brings it.
void ProgramVerifier::note_received(Node recv, const std::vector<ByteSymbols>& message) {
  if (held_.empty()) return;
  ByteContent& held = held_[index(rank_of(recv))];
  for (const ByteSymbols& symbols : message) {
    const ByteRange bytes = {symbols.origin, symbols.origin + symbols.bytes()};
    if (held.has_some(bytes)) {
      refuse(recv, "receives " + in_words(symbols) + " or bytes after it, which its rank has");
    }
    held.write(bytes, message, symbols.begin);
  }
}

/// Runs a collective between nodes once all its members have entered.
void ProgramVerifier::enter(Node node) {
  begun_[index(node)] = 1;
  const std::size_t meeting = node_order_.graph().meeting_of(node);
  const NodeGraph::Meeting& members = node_order_.graph().meetings()[meeting];
  for (const Node member : members) {
    if (begun_[index(member)] == 0) return;
  }
  run_call(node_order_.transfers(meeting));
  if (is_barrier_ && node_order_.graph().call(node).collective == Collective::barrier) {
    for (const Node member : members) entered_.insert_all(node, member);
    for (const Node member : members) entered_.insert_all(member, node);
  }
  for (const Node member : members) flow_.complete(member);
}

/// Moves the bytes of a collective between nodes. Consecutive transfers to the same member combine.
void ProgramVerifier::run_call(std::span<const InnerTransfer> transfers) {
  const auto continues = [&](std::size_t i) {
    return transfers[i].combines && i > 0 &&
           transfers[i].target.operation == transfers[i - 1].target.operation;
  };
  std::vector<std::vector<ByteSymbols>> moved;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const ByteAccess& source = transfers[i].source;
    moved.push_back(read(source.operation, {&source, 1}));
    if (!continues(i) || fault_) continue;
    moved[i] = combined(source.operation, moved[i - 1], moved[i]);
  }
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const ByteAccess& target = transfers[i].target;
    if (i + 1 < transfers.size() && continues(i + 1)) continue;
    write(target.operation, {&target, 1}, moved[i]);
  }
}

ByteContent& ProgramVerifier::content(Rank rank, Area area) {
  return area == Area::node ? node_memory_[index(call_->nodes->node_of(rank))]
                            : memory_[index(rank)].content(area);
}

std::span<const ByteAccess> ProgramVerifier::sources(Node node) const {
  const Uses& found = uses_[index(node)];
  return std::span(accesses_).subspan(found.first, found.middle - found.first);
}

std::span<const ByteAccess> ProgramVerifier::targets(Node node) const {
  const Uses& found = uses_[index(node)];
  return std::span(accesses_).subspan(found.middle, found.last - found.middle);
}

std::vector<ByteSymbols> ProgramVerifier::read(Node node, std::span<const ByteAccess> accesses) {
  const Rank rank = rank_of(node);
  std::vector<ByteSymbols> found;
  for (const ByteAccess& access : accesses) {
    const Bytes undefined = content(rank, access.area).read(access.bytes, found);
    if (undefined == ByteContent::none) continue;
    refuse(node, "reads byte " + std::to_string(undefined) + " of " + name_of(access.area) +
                     ", which is undefined");
    return found;
  }
  for (ByteSymbols& symbols : found) {
    // Windows hold their data before any rank arrives.
    if (symbols.input && accesses.front().area != Area::window && early_[index(node)] != 0) {
      refuse(node, "reads " + in_words(symbols) + " before the rank arrives");
    }
    if (symbols.input) symbols.set = rank;
    symbols.input = false;
  }
  return found;
}

void ProgramVerifier::write(Node node, std::span<const ByteAccess> accesses,
                            const std::vector<ByteSymbols>& message) {
  if (fault_) return;
  Bytes from = 0;
  for (const ByteAccess& access : accesses) {
    if (access.bytes.begin == access.bytes.end) continue;
    content(rank_of(node), access.area).write(access.bytes, message, from);
    from += access.bytes.bytes();
  }
}

void ProgramVerifier::run_local(Node node) {
  const Operation& local = operation(node);
  std::vector<ByteSymbols> bytes = read(node, sources(node));
  if (local.kind == OperationKind::reduce) {
    const auto right = read(node, targets(node));
    if (!fault_) bytes = combined(node, bytes, right);
  }
  write(node, targets(node), bytes);
}

std::vector<ByteSymbols> ProgramVerifier::combined(Node node, const std::vector<ByteSymbols>& left,
                                                   const std::vector<ByteSymbols>& right) {
  std::vector<ByteSymbols> result;
  auto next = right.begin();
  for (const ByteSymbols& symbols : left) {
    for (; next != right.end() && next->begin < symbols.end; ++next) {
      const ByteRange both = {std::max(symbols.begin, next->begin),
                              std::min(symbols.end, next->end)};
      ByteSymbols part = part_of(symbols, both);
      const ByteSymbols other = part_of(*next, both);
      if (part.origin != other.origin) {
        refuse(node, "combines " + in_words(part) + " with " + in_words(other));
        return result;
      }
      if ((part.origin - part.begin) % call_->unit != 0) {
        refuse(node, "combines a part of an element");
      }
      part.set = united(node, part.set, other.set);
      result.push_back(part);
      if (next->end > symbols.end) break;
    }
  }
  return result;
}

/// The number of the set of ranks in the combination of two values.
int ProgramVerifier::united(Node node, int left, int right) {
  if (const Rank twice = sets_.common(left, right); twice != no_rank) {
    refuse(node, "combines the contribution of rank " + std::to_string(twice) + " twice");
  }
  if (!call_->contract.commutative && sets_.last(left) > sets_.first(right)) {
    refuse(node, "puts the contribution of rank " + std::to_string(sets_.last(left)) +
                     " before that of rank " + std::to_string(sets_.first(right)) +
                     ", and the operation does not commute");
  }
  // Equal numbers stand for equal expressions, and so for equal bits. `a op b` and `b op a` may
  // differ in bits although the operation commutes.
  const auto [known, is_new] = unions_.try_emplace(std::pair(left, right), 0);
  if (is_new) {
    known->second = sets_.copy_of(left);
    sets_.insert_all(known->second, right);
  }
  return known->second;
}

ProgramVerifier::Fault ProgramVerifier::check_barrier() {
  const int p = call_->contract.p;
  for (Rank rank = 0; rank < p; ++rank) {
    const RankSets::Set heard = graph_.nodes() + rank;
    entered_.insert(heard, rank);
    for (Node node = graph_.node(rank, 0); node < graph_.end(rank); ++node) {
      entered_.insert_all(heard, node);
    }
    const Rank missing = entered_.missing(heard, p);
    if (missing == no_rank) continue;
    return fault(rank, -1,
                 "leaves though rank " + std::to_string(missing) + " may not have entered");
  }
  return std::nullopt;
}

ProgramVerifier::Fault ProgramVerifier::check_results(Rank rank) {
  const Contract& contract = call_->contract;
  RankMemory& memory = memory_[index(rank)];
  combined_.clear();
  std::vector<ByteSymbols> found;
  for (const ByteSymbols& wanted : memory.wanted()) {
    found.clear();
    const ByteRange range = {wanted.begin, wanted.end};
    const Bytes undefined = memory.content(memory.results()).read(range, found);
    if (undefined != ByteContent::none) {
      const ByteSymbols missing = part_of(wanted, {undefined, wanted.end});
      return fault(rank, -1, "lacks " + in_words(missing) + " at the end");
    }
    for (const ByteSymbols& part : found) {
      ByteSymbols expected = part_of(wanted, {wanted.begin + part.begin, wanted.end});
      if (part.origin != expected.origin) {
        return fault(
            rank, -1,
            "has " + in_words(part) + " at the end where " + in_words(expected) + " belongs");
      }
      if (!reduces(contract.collective)) continue;
      const int set = part.input ? rank : part.set;
      const std::string text =
          sets_.difference(set, contributors(contract.collective, contract.p, rank));
      if (!text.empty()) return fault(rank, -1, text + " in " + in_words(part) + " at the end");
      if (combined_.empty() || combined_.back().second != set) {
        combined_.emplace_back(part.origin, set);
      }
    }
  }
  // All ranks of an allreduce get the same bits.
  if (properties_of(contract.collective).after != Holders::all) return std::nullopt;
  if (rank == 0) combined_at_first_ = combined_;
  if (combined_ == combined_at_first_) return std::nullopt;
  return fault(rank, -1, "combines in another sequence than rank 0: their bits may differ");
}

}  // namespace tutti
