/// Executes programs in one of many sequences.
#include <algorithm>

#include "core/index.hpp"
#include "verify/program.hpp"

namespace tutti {

/// Prepares the lists of the operations that need others.
void ProgramVerifier::link(Rank rank) {
  const BufferAssignment& program = programs_[at(rank)];
  const Node base = first_[at(rank)];
  const std::size_t count = program.operations.size();
  std::vector<int> degree(count + 1, 0);
  for (const Operation& operation : program.operations) {
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      ++degree[at(program.needs[at(need)])];
    }
  }
  int end = static_cast<int>(readers_.size());
  for (std::size_t i = 0; i < count; ++i) {
    first_reader_.push_back(end);
    end += std::exchange(degree[i], end);
  }
  readers_.resize(at(end));
  for (std::size_t i = 0; i < count; ++i) {
    const Operation& operation = program.operations[i];
    needs_left_.push_back(operation.last_need - operation.first_need);
    for (int need = operation.first_need; need < operation.last_need; ++need) {
      readers_[at(degree[at(program.needs[at(need)])]++)] = base + static_cast<Node>(i);
    }
  }
}

ProgramVerifier::Fault ProgramVerifier::execute(std::uint64_t seed) {
  const int p = call_->contract.p;
  const std::size_t nodes = rank_of_.size();
  needs_left_.clear();
  first_reader_.clear();
  readers_.clear();
  for (Rank rank = 0; rank < p; ++rank) link(rank);
  first_reader_.push_back(static_cast<int>(readers_.size()));
  reached_.assign(nodes, 0);
  begun_.assign(nodes, 0);
  done_.assign(nodes, 0);
  sent_.resize(nodes);
  states_.resize(at(p));
  for (RankState& state : states_) {
    state.next = state.remaining = state.slots_in_use = 0;
    state.arrived = false;
    state.held.clear();
    state.queued.clear();
  }
  ready_.clear();
  ended_.clear();
  pending_.clear();
  unfinished_ = static_cast<int>(nodes);
  sets_.start(p, p);
  for (Rank rank = 0; rank < p; ++rank) sets_.insert(rank, rank);

  std::mt19937_64 random(seed);
  eager_ = random() % 4 == 0;
  for (Rank rank = 0; rank < p; ++rank) {
    pending_.push_back(~rank);
    advance(rank);
  }
  while (!fault_) {
    if (!ended_.empty()) {
      const Node node = ended_.back();
      ended_.pop_back();
      complete(node);
    } else if (!ready_.empty()) {
      const Node node = ready_.back();
      ready_.pop_back();
      start(node);
    } else if (!pending_.empty()) {
      std::swap(pending_[random() % pending_.size()], pending_.back());
      const int event = pending_.back();
      pending_.pop_back();
      if (event >= 0) {
        deliver(event);
      } else {
        states_[at(~event)].arrived = true;
        ready_.insert(ready_.end(), states_[at(~event)].held.begin(),
                      states_[at(~event)].held.end());
      }
    } else {
      break;
    }
  }
  if (!fault_ && unfinished_ > 0) return stuck();
  return fault_;
}

/// Reaches the operations up to the next wait that is not over.
void ProgramVerifier::advance(Rank rank) {
  RankState& state = states_[at(rank)];
  const int count = first_[at(rank) + 1] - first_[at(rank)];
  for (; state.next < count; ++state.next) {
    const Node node = first_[at(rank)] + state.next;
    const Operation& reached = operation(node);
    if (reached.kind != StepKind::wait) {
      reached_[at(node)] = 1;
      if (needs_left_[at(node)] == 0) ready_.push_back(node);
      continue;
    }
    state.remaining = 0;
    for (int other = reached.first; other < reached.last; ++other) {
      if (done_[at(first_[at(rank)] + other)] == 0) ++state.remaining;
    }
    if (state.remaining > 0) return;
    ended_.push_back(node);
  }
}

/// Starts an operation that is reached and needs nothing more, or holds it back.
void ProgramVerifier::start(Node node) {
  const Rank rank = rank_of_[at(node)];
  const Operation& begins = operation(node);
  RankState& state = states_[at(rank)];
  if (!state.arrived && begins.runner == Runner::caller) return state.held.push_back(node);
  if (begins.kind == StepKind::copy || begins.kind == StepKind::reduce) {
    run_local(node);
    return ended_.push_back(node);
  }
  if (begins.slots > 0) {
    if (state.slots_in_use >= begins.slots) return state.queued.push_back(node);
    ++state.slots_in_use;
  }
  begun_[at(node)] = 1;
  const bool sends = begins.kind == StepKind::send;
  const Node send = sends ? node : partner_[at(node)];
  if (sends && eager_) {
    const Ranges& ranges = ranges_of_[at(node)];
    sent_[at(node)] = read(node, begins.from.area, ranges.first, ranges.middle);
    ended_.push_back(node);
  }
  if (begun_[at(partner_[at(node)])] != 0) pending_.push_back(send);
}

void ProgramVerifier::deliver(Node send) {
  const Node recv = partner_[at(send)];
  if (!eager_) {
    const Ranges& ranges = ranges_of_[at(send)];
    sent_[at(send)] = read(send, operation(send).from.area, ranges.first, ranges.middle);
    ended_.push_back(send);
  }
  write(recv, operation(recv).to.area, sent_[at(send)]);
  ended_.push_back(recv);
}

void ProgramVerifier::complete(Node node) {
  const Rank rank = rank_of_[at(node)];
  RankState& state = states_[at(rank)];
  done_[at(node)] = 1;
  --unfinished_;
  const int last = first_reader_[at(node) + 1];
  for (int i = first_reader_[at(node)]; i < last; ++i) {
    const Node reader = readers_[at(i)];
    if (--needs_left_[at(reader)] == 0 && reached_[at(reader)] != 0) ready_.push_back(reader);
  }
  if (operation(node).slots > 0) {
    --state.slots_in_use;
    ready_.insert(ready_.end(), state.queued.rbegin(), state.queued.rend());
    state.queued.clear();
  }
  if (state.remaining == 0) return;
  const Node wait = first_[at(rank)] + state.next;
  const Operation& gate = operation(wait);
  const bool is_named = gate.first <= number(node) && number(node) < gate.last;
  if (!is_named || --state.remaining > 0) return;
  ended_.push_back(wait);
  ++state.next;
  advance(rank);
}

std::vector<ByteSymbols> ProgramVerifier::read(Node node, Area area, int first, int last) {
  const Rank rank = rank_of_[at(node)];
  const bool background = operation(node).runner == Runner::background;
  std::vector<ByteSymbols> found;
  for (int i = first; i < last; ++i) {
    const Bytes undefined = memory_[at(rank)].content(area).read(ranges_[at(i)], found);
    if (undefined == ByteContent::none) continue;
    refuse(node, "reads byte " + std::to_string(undefined) + " of " + name_of(area) +
                     ", which is undefined");
    return found;
  }
  for (ByteSymbols& symbols : found) {
    if (symbols.input && background && early_[at(node)] != 0) {
      refuse(node, "reads " + in_words(symbols) + " before the rank arrives");
    }
    if (symbols.input) symbols.set = rank;
    symbols.input = false;
  }
  return found;
}

void ProgramVerifier::write(Node node, Area area, const std::vector<ByteSymbols>& message) {
  if (fault_) return;
  const Ranges& ranges = ranges_of_[at(node)];
  Bytes from = 0;
  for (int i = ranges.middle; i < ranges.last; ++i) {
    memory_[at(rank_of_[at(node)])].content(area).write(ranges_[at(i)], message, from);
    from += ranges_[at(i)].end - ranges_[at(i)].begin;
  }
}

void ProgramVerifier::run_local(Node node) {
  const Operation& local = operation(node);
  const Ranges& ranges = ranges_of_[at(node)];
  std::vector<ByteSymbols> bytes = read(node, local.from.area, ranges.first, ranges.middle);
  if (local.kind == StepKind::reduce) {
    const auto right = read(node, local.to.area, ranges.middle, ranges.last);
    if (!fault_) bytes = combined(node, bytes, right);
  }
  write(node, local.to.area, bytes);
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
      part.set = united(node, part.set, other.set);
      result.push_back(part);
      if (next->end > symbols.end) break;
    }
  }
  return result;
}

/// The set of ranks in the combination of two values.
int ProgramVerifier::united(Node node, int left, int right) {
  if (const Rank twice = sets_.common(left, right); twice != no_rank) {
    refuse(node, "combines the contribution of rank " + std::to_string(twice) + " twice");
  }
  if (!call_->contract.commutative && sets_.last(left) > sets_.first(right)) {
    refuse(node, "puts the contribution of rank " + std::to_string(sets_.last(left)) +
                     " before that of rank " + std::to_string(sets_.first(right)) +
                     ", and the operation does not commute");
  }
  const int both = sets_.copy_of(left);
  sets_.insert_all(both, right);
  return both;
}

ProgramVerifier::Fault ProgramVerifier::stuck() const {
  for (Node node = 0; node < static_cast<Node>(done_.size()); ++node) {
    if (done_[at(node)] != 0) continue;
    std::string text = "never completes: ";
    const Operation& open = operation(node);
    if (begun_[at(node)] != 0) {
      const Node partner = partner_[at(node)];
      text +=
          "rank " + std::to_string(rank_of_[at(partner)]) + " never begins " + in_words(partner);
    } else if (open.kind == StepKind::wait || reached_[at(node)] == 0) {
      text += "a wait is not over";
    } else {
      text += "an operation that it needs, or a slot, is missing";
    }
    return fault(rank_of_[at(node)], number(node),
                 "(" + std::string(name_of(open.kind)) + ") " + text);
  }
  return std::nullopt;
}

}  // namespace tutti
