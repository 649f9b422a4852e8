/// Executes schedules symbolically, byte by byte.
#include "verify/verify.hpp"

#include <algorithm>

#include "core/index.hpp"

namespace tutti {

namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

}  // namespace

std::optional<Fault> Verifier::verify(const Contract& contract, const Order& order,
                                      const std::vector<Bytes>& sizes,
                                      std::span<const Schedule> schedules) {
  contract_ = contract;
  schedules_ = schedules;
  if (auto found = check_call(order, sizes)) return found;
  lay_out(order, sizes);
  if (const auto flaw = graph_.build(schedules)) return fault_of(*flaw);
  parts_.clear();
  first_part_.assign(1, 0);
  for (const Schedule& schedule : schedules) {
    if (auto found = resolve(schedule)) return found;
  }
  for (Node node = 0; node < graph_.nodes(); ++node) {
    const StepKind kind = graph_.step(node).kind;
    if (kind != StepKind::send && kind != StepKind::notify) continue;
    if (auto found = check_ends(node)) return found;
  }
  if (reduces(contract.collective)) return check_reduction();
  if (block_kind(contract.collective) == BlockKind::none) return check_barrier();
  return check_movement();
}

/// Checks a collective that only moves blocks. A rank only gains bytes, so all faults but deadlock
/// show in the schedules without an execution.
std::optional<Fault> Verifier::check_movement() {
  std::optional<Fault> missing;  // reported last: a fault of a step explains more
  for (const Schedule& schedule : schedules_) {
    collect_holdings(schedule);
    if (auto found = check_rank(schedule)) return found;
    if (!missing) missing = check_wanted(schedule.rank);
  }
  if (auto found = execute([](Node) { return std::nullopt; })) return found;
  return missing;
}

/// Checks a collective that combines blocks, in an execution with their values.
std::optional<Fault> Verifier::check_reduction() {
  for (Node node = 0; node < graph_.nodes(); ++node) {
    if (auto found = check_whole(node)) return found;
  }
  contributions_.start(contract_, graph_);
  auto found = execute([&](Node node) -> std::optional<Fault> {
    const Step& step = graph_.step(node);
    if (step.bytes == 0) return std::nullopt;
    if (step.kind == StepKind::send || step.kind == StepKind::notify) contributions_.move(node);
    if (step.kind != StepKind::reduce) return std::nullopt;
    const auto finding = contributions_.combine(node);
    return finding ? std::optional(fault_of(*finding)) : std::nullopt;
  });
  for (Rank rank = 0; rank < contract_.p && !found; ++rank) {
    const BlockSeries wanted = contract_.after(rank);
    for (int i = 0; i < wanted.count && !found; ++i) {
      const Interval bytes = interval_of(wanted[i]);
      if (bytes.begin == bytes.end) continue;
      const auto finding = contributions_.check_result(rank, index_of(wanted[i]));
      if (finding) found = fault_of(*finding);
    }
  }
  return found;
}

/// Checks that a step of a reduction uses whole blocks, because values are those of whole blocks.
std::optional<Fault> Verifier::check_whole(Node node) const {
  const Step& step = graph_.step(node);
  if (step.kind == StepKind::wait || step.bytes == 0) return std::nullopt;
  Bytes all = 0;
  step.blocks.for_each_run(
      [&](BlockRange run) { all += prefix_[index(run.end)] - prefix_[index(run.begin)]; });
  const bool whole = step.offset == 0 && step.bytes == all;
  // The data of windows is valid before any rank arrives.
  const bool early =
      step.runner == Runner::background && !step.staged && !is_one_sided(contract_.collective);
  if (whole && !early) return std::nullopt;
  return fault(graph_.rank_of(node), graph_.step_of(node), block_of(step.blocks.range.begin),
               whole ? "runs in the background, but touches what the rank brings when it arrives"
                     : "a part of a block cannot be reduced; parts are blocks of their own");
}

std::optional<Fault> Verifier::check_barrier() {
  awareness_.start(graph_);
  auto found = execute([&](Node node) -> std::optional<Fault> {
    if (graph_.step(node).kind == StepKind::send) awareness_.complete(node);
    return std::nullopt;
  });
  for (Rank rank = 0; rank < contract_.p && !found; ++rank) {
    const Rank unheard = awareness_.unheard_of(rank);
    if (unheard == no_rank) continue;
    found =
        fault(rank, -1, no_rank, "leaves though rank " + number(unheard) + " may not have entered");
  }
  return found;
}

std::optional<Fault> Verifier::check_call(const Order& order,
                                          const std::vector<Bytes>& sizes) const {
  const std::size_t p = index(contract_.p);
  if (schedules_.size() != p || sizes.size() != index(contract_.blocks()) ||
      order.size() != contract_.p) {
    const BlockIndex blocks = contract_.blocks();
    return Fault{no_rank, -1, no_rank,
                 "a call of " + number(contract_.p) + " ranks needs as many schedules, " +
                     (blocks == contract_.p ? "" : number(blocks) + " ") + "sizes and " +
                     "positions, not " + number(static_cast<std::int64_t>(schedules_.size())) +
                     ", " + number(static_cast<std::int64_t>(sizes.size())) + " and " +
                     number(order.size())};
  }
  for (const Schedule& schedule : schedules_) {
    if (schedule.parts == contract_.parts) continue;
    return fault(schedule.rank, -1, no_rank,
                 "cuts the vector into " + number(schedule.parts) + " parts, not " +
                     number(contract_.parts));
  }
  return std::nullopt;
}

void Verifier::lay_out(const Order& order, const std::vector<Bytes>& sizes) {
  order_ = &order;
  prefix_.assign(1, 0);
  for (BlockIndex at = 0; at < contract_.blocks(); ++at) {
    prefix_.push_back(prefix_.back() + sizes[index(block_of(at))]);
  }
}

Block Verifier::block_of(BlockIndex at) const {
  const auto rank = [&](BlockIndex position) {
    return Block{order_->rank_at(static_cast<Position>(position))};
  };
  switch (block_kind(contract_.collective)) {
    case BlockKind::ranks:
      return rank(at);
    case BlockKind::pairs:
      return rank(at / contract_.p) * contract_.p + rank(at % contract_.p);
    default:
      return at;
  }
}

BlockIndex Verifier::index_of(Block block) const {
  const auto position = [&](Block rank) {
    return BlockIndex{order_->position_of(static_cast<Rank>(rank))};
  };
  switch (block_kind(contract_.collective)) {
    case BlockKind::ranks:
      return position(block);
    case BlockKind::pairs:
      return position(block / contract_.p) * contract_.p + position(block % contract_.p);
    default:
      return block;
  }
}

Fault Verifier::fault_of(const Flaw& flaw) const {
  Block block = no_rank;
  if (flaw.step >= 0) {
    const Blocks& blocks = schedules_[index(flaw.rank)].steps[index(flaw.step)].blocks;
    const BlockIndex first = blocks.range.begin;
    if (!blocks.range.empty() && 0 <= first && first < contract_.blocks()) block = block_of(first);
  }
  return fault(flaw.rank, flaw.step, block, flaw.text);
}

Fault Verifier::fault_of(const Finding& finding) const {
  return fault(finding.rank, finding.step, block_of(finding.block), finding.text);
}

/// Appends the intervals of all steps of one rank.
std::optional<Fault> Verifier::resolve(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const auto id = static_cast<StepId>(i);
    const bool known = step.kind == StepKind::send || step.kind == StepKind::recv ||
                       step.kind == StepKind::copy || step.kind == StepKind::wait ||
                       step.kind == StepKind::reduce || is_one_sided(step.kind);
    const bool fits = step.kind == StepKind::wait || step.kind == StepKind::copy ||
                      step.kind == StepKind::reduce ||
                      is_one_sided(step.kind) == is_one_sided(contract_.collective);
    const Block block = step.blocks.range.empty() ? no_rank : block_of(step.blocks.range.begin);
    if (!known || !fits) {
      return fault(schedule.rank, id, block,
                   "a " + std::string(name_of(contract_.collective)) + " has no such step");
    }
    if (!resolve(step)) {
      return fault(schedule.rank, id, block,
                   "its bytes " + number(step.offset) + " to " + number(step.offset + step.bytes) +
                       " are more than its blocks have");
    }
    first_part_.push_back(static_cast<int>(parts_.size()));
  }
  return std::nullopt;
}

/// Appends the intervals of a step. Returns false if its blocks have fewer bytes.
bool Verifier::resolve(const Step& step) {
  const Bytes end = step.offset + step.bytes;
  const std::size_t first = parts_.size();
  Bytes packed = 0;
  step.blocks.for_each_run([&](BlockRange run) {
    const Bytes begin_of_run = prefix_[index(run.begin)];
    const Bytes bytes = prefix_[index(run.end)] - begin_of_run;
    const Bytes from = std::max<Bytes>(step.offset - packed, 0);
    const Bytes to = std::min(end - packed, bytes);
    packed += bytes;
    if (from >= to) return;
    if (parts_.size() > first && parts_.back().end == begin_of_run + from) {
      parts_.back().end = begin_of_run + to;
    } else {
      parts_.push_back({begin_of_run + from, begin_of_run + to});
    }
  });
  return end <= packed || step.bytes == 0;
}

std::optional<Fault> Verifier::check_ends(Node send) const {
  const Node recv = graph_.partner(send);
  const Rank sender = graph_.rank_of(send);
  const Rank receiver = graph_.rank_of(recv);
  const auto sent = parts(send);
  const auto received = parts(recv);
  if (std::equal(sent.begin(), sent.end(), received.begin(), received.end())) return std::nullopt;
  const auto other = " in its step " + number(graph_.step_of(recv));
  const Bytes bytes = graph_.step(send).bytes;
  const Bytes expected = graph_.step(recv).bytes;
  const auto [a, b] = std::mismatch(sent.begin(), sent.end(), received.begin(), received.end());
  const Bytes at = a == sent.end()        ? b->begin
                   : b == received.end()  ? a->begin
                   : a->begin == b->begin ? std::min(a->end, b->end)
                                          : a->begin;
  const Block block = block_at(std::min(at, prefix_.back() - 1));
  const bool notifies = graph_.step(send).kind == StepKind::notify;
  const std::string verb = notifies ? "notifies of " : "sends ";
  return fault(sender, graph_.step_of(send), block,
               bytes != expected
                   ? verb + number(bytes) + " bytes, but rank " + number(receiver) + " expects " +
                         number(expected) + other
                   : verb + "other bytes than rank " + number(receiver) + " expects" + other);
}

/// Executes all ranks to find deadlocks. Calls completed(node) for each local step, and for each
/// message with its send.
template <class Completed>
std::optional<Fault> Verifier::execute(Completed completed) {
  flow_.start(graph_);
  for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
    if (flow_.is_done(node)) continue;  // completed with its partner
    const Node partner = graph_.partner(node);
    const StepKind kind = graph_.step(node).kind;
    if (kind == StepKind::notify) {  // completes without its await
      if (std::optional<Fault> found = completed(node)) return found;
      flow_.complete(node);
      if (flow_.is_posted(partner)) flow_.complete(partner);
      continue;
    }
    if (kind == StepKind::await && flow_.is_done(partner)) {
      flow_.complete(node);
      continue;
    }
    if (partner != StepGraph::none && (kind == StepKind::await || !flow_.is_posted(partner))) {
      continue;
    }
    const bool receives = graph_.step(node).kind == StepKind::recv;
    if (std::optional<Fault> found = completed(receives ? partner : node)) return found;
    flow_.complete(node);
    if (partner != StepGraph::none) flow_.complete(partner);
  }
  if (flow_.all_done()) return std::nullopt;
  return deadlock();
}

Fault Verifier::deadlock() const {
  Node node = 0;
  while (flow_.is_done(node)) ++node;
  // Following as many obstacles as there are nodes leads into the cycle; then describe the cycle.
  for (int i = 0; i < graph_.nodes(); ++i) node = flow_.obstacle(node);
  const auto name = [&](Node of) {
    return "rank " + number(graph_.rank_of(of)) + "'s step " + number(graph_.step_of(of)) + " (" +
           describe(graph_.step(of)) + ")";
  };
  std::string circle = "deadlock: it";
  Node at = node;
  for (int links = 0; links < 8; ++links) {
    at = flow_.obstacle(at);
    circle += (links > 0 ? ", which waits for " : " waits for ") +
              (at == node ? std::string("it") : name(at));
    if (at == node) break;
  }
  const Blocks& blocks = graph_.step(node).blocks;
  return fault(graph_.rank_of(node), graph_.step_of(node),
               blocks.range.empty() ? no_rank : block_of(blocks.range.begin), circle);
}

std::span<const Verifier::Interval> Verifier::parts(Node node) const {
  const auto first = index(first_part_[index(node)]);
  return std::span(parts_).subspan(first, index(first_part_[index(node) + 1]) - first);
}

Verifier::Interval Verifier::interval_of(Block block) const {
  const std::size_t at = index(index_of(block));
  return {prefix_[at], prefix_[at + 1]};
}

Block Verifier::block_at(Bytes byte) const {
  const auto after = std::upper_bound(prefix_.begin(), prefix_.end(), byte);
  return block_of(after - prefix_.begin() - 1);
}

Fault Verifier::fault(Rank rank, StepId step, Block block, const std::string& text) const {
  std::string where = "rank " + number(rank);
  if (step >= 0) {
    where += ", step " + number(step) + " (" +
             describe(schedules_[index(rank)].steps[index(step)]) + ")";
  }
  if (block != no_rank) where += ", block " + number(block);
  if (block != no_rank && block_kind(contract_.collective) == BlockKind::pairs) {
    where +=
        " (of rank " + number(block / contract_.p) + " for " + number(block % contract_.p) + ")";
  }
  return {rank, step, block, where + ": " + text};
}

std::optional<Fault> verify(const Contract& contract, const Order& order,
                            const std::vector<Bytes>& sizes_by_rank,
                            std::span<const Schedule> schedules) {
  return Verifier().verify(contract, order, sizes_by_rank, schedules);
}

}  // namespace tutti
