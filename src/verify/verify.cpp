/// Byte-exact symbolic execution.
#include "verify/verify.hpp"

#include <algorithm>
#include <limits>

namespace tutti {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::string number(std::int64_t value) { return std::to_string(value); }

constexpr StepId after_all = std::numeric_limits<StepId>::max();

}  // namespace

std::optional<Fault> Verifier::verify(const Contract& contract, const Order& order,
                                      const std::vector<Bytes>& sizes,
                                      std::span<const Schedule> schedules) {
  contract_ = contract;
  schedules_ = schedules;
  if (schedules.size() != index(contract.p) || sizes.size() != schedules.size() ||
      order.size() != contract.p) {
    return Fault{no_rank, -1, no_rank,
                 "a call of " + number(contract.p) + " ranks needs as many schedules, sizes and " +
                     "positions, not " + number(static_cast<std::int64_t>(schedules.size())) +
                     ", " + number(static_cast<std::int64_t>(sizes.size())) + " and " +
                     number(order.size())};
  }
  lay_out(order, sizes);
  if (const auto flaw = graph_.build(schedules)) return fault_of(*flaw);
  parts_.clear();
  first_part_.assign(1, 0);
  for (const Schedule& schedule : schedules) {
    if (auto found = resolve(schedule)) return found;
  }
  for (Node node = 0; node < graph_.nodes(); ++node) {
    if (graph_.step(node).kind != StepKind::send) continue;
    if (auto found = check_ends(node)) return found;
  }
  std::optional<Fault> missing;  // told last: a fault of a step explains more
  for (const Schedule& schedule : schedules) {
    collect_holdings(schedule);
    if (auto found = check_rank(schedule)) return found;
    if (!missing) missing = check_wanted(schedule.rank);
  }
  if (auto found = execute()) return found;
  return missing;
}

void Verifier::lay_out(const Order& order, const std::vector<Bytes>& sizes) {
  order_ = &order;
  prefix_.assign(1, 0);
  for (Position position = 0; position < order.size(); ++position) {
    prefix_.push_back(prefix_.back() + sizes[index(order.rank_at(position))]);
  }
}

Fault Verifier::fault_of(const Flaw& flaw) const {
  Rank block = no_rank;
  if (flaw.step >= 0) {
    const Blocks& blocks = schedules_[index(flaw.rank)].steps[index(flaw.step)].blocks;
    const Position first = blocks.range.begin;
    if (!blocks.range.empty() && 0 <= first && first < contract_.p) block = order_->rank_at(first);
  }
  return fault(flaw.rank, flaw.step, block, flaw.text);
}

/// Finds the bytes of all steps of one rank.
std::optional<Fault> Verifier::resolve(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    const auto id = static_cast<StepId>(i);
    const bool known = step.kind == StepKind::send || step.kind == StepKind::recv ||
                       step.kind == StepKind::copy || step.kind == StepKind::wait;
    const Rank block =
        step.blocks.range.empty() ? no_rank : order_->rank_at(step.blocks.range.begin);
    if (!known) {
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

/// Appends the intervals of a step. False if its blocks have fewer bytes.
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
  const Rank block = block_at(std::min(at, prefix_.back() - 1));
  return fault(sender, graph_.step_of(send), block,
               bytes != expected
                   ? "sends " + number(bytes) + " bytes, but rank " + number(receiver) +
                         " expects " + number(expected) + other
                   : "sends other bytes than rank " + number(receiver) + " expects" + other);
}

/// What a rank holds from the start and what each of its receives adds, ascending.
void Verifier::collect_holdings(const Schedule& schedule) {
  holdings_.clear();
  for (Rank block = 0; block < contract_.p; ++block) {
    if (!contract_.holds_before(schedule.rank, block)) continue;
    const Interval place = place_of(block);
    if (place.begin < place.end) holdings_.push_back({place, -1});
  }
  for (StepId step = 0; step < graph_.steps(schedule.rank); ++step) {
    if (schedule.steps[index(step)].kind != StepKind::recv) continue;
    for (const Interval& part : parts(graph_.node(schedule.rank, step))) {
      holdings_.push_back({part, step});
    }
  }
  std::sort(holdings_.begin(), holdings_.end(), [](const Holding& a, const Holding& b) {
    return std::pair(a.bytes.begin, a.step) < std::pair(b.bytes.begin, b.step);
  });
}

std::optional<Fault> Verifier::check_rank(const Schedule& schedule) const {
  for (std::size_t i = 1; i < holdings_.size(); ++i) {
    const Holding& before = holdings_[i - 1];
    const Holding& after = holdings_[i];
    if (after.bytes.begin >= before.bytes.end) continue;
    const StepId first = std::min(before.step, after.step);
    return fault(schedule.rank, std::max(before.step, after.step), block_at(after.bytes.begin),
                 first < 0 ? "receives what the rank holds from the start"
                           : "receives what step " + number(first) + " has received");
  }
  for (StepId step = 0; step < graph_.steps(schedule.rank); ++step) {
    if (auto found = check_read(schedule, step)) return found;
  }
  return std::nullopt;
}

std::optional<Fault> Verifier::check_read(const Schedule& schedule, StepId step) const {
  const StepKind kind = schedule.steps[index(step)].kind;
  if (kind != StepKind::send && kind != StepKind::copy) return std::nullopt;
  for (const Interval& part : parts(graph_.node(schedule.rank, step))) {
    if (const auto byte = first_missing(part, step)) {
      return fault(schedule.rank, step, block_at(*byte),
                   "reads what the rank does not hold and no earlier step has received");
    }
    if (schedule.steps[index(step)].runner == Runner::caller) continue;
    if (const auto byte = first_brought(part)) {
      return fault(schedule.rank, step, block_at(*byte),
                   "runs in the background, but reads what the rank brings when it arrives");
    }
  }
  return std::nullopt;
}

std::optional<Bytes> Verifier::first_missing(Interval wanted, StepId reader) const {
  auto at = std::partition_point(holdings_.begin(), holdings_.end(), [&](const Holding& holding) {
    return holding.bytes.end <= wanted.begin;
  });
  for (Bytes byte = wanted.begin; byte < wanted.end; byte = at++->bytes.end) {
    if (at == holdings_.end() || at->bytes.begin > byte || at->step > reader) return byte;
  }
  return std::nullopt;
}

std::optional<Bytes> Verifier::first_brought(Interval wanted) const {
  for (const Holding& holding : holdings_) {
    const Bytes begin = std::max(holding.bytes.begin, wanted.begin);
    if (holding.step < 0 && begin < std::min(holding.bytes.end, wanted.end)) return begin;
  }
  return std::nullopt;
}

/// Runs all ranks. What a step reads has been checked already; what is left is whether the
/// steps can complete.
std::optional<Fault> Verifier::execute() {
  flow_.start(graph_);
  for (Node node = flow_.take_posted(); node != StepGraph::none; node = flow_.take_posted()) {
    if (flow_.is_done(node)) continue;  // its partner has come first
    const Node partner = graph_.partner(node);
    if (partner == StepGraph::none) {
      flow_.complete(node);
    } else if (flow_.is_posted(partner)) {
      flow_.complete(node);
      flow_.complete(partner);
    }
  }
  if (flow_.all_done()) return std::nullopt;
  return deadlock();
}

Fault Verifier::deadlock() const {
  Node node = 0;
  while (flow_.is_done(node)) ++node;
  // As many obstacles as there are nodes lead into the circle; then go round it once.
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
               blocks.range.empty() ? no_rank : order_->rank_at(blocks.range.begin), circle);
}

std::optional<Fault> Verifier::check_wanted(Rank rank) const {
  for (Rank block = 0; block < contract_.p; ++block) {
    if (!contract_.wants_after(rank, block)) continue;
    const auto missing = first_missing(place_of(block), after_all);
    if (!missing) continue;
    return fault(rank, -1, block,
                 "byte " + number(*missing - place_of(block).begin) +
                     " of the block never reaches the rank");
  }
  return std::nullopt;
}

std::span<const Verifier::Interval> Verifier::parts(Node node) const {
  const auto first = index(first_part_[index(node)]);
  return std::span(parts_).subspan(first, index(first_part_[index(node) + 1]) - first);
}

Verifier::Interval Verifier::place_of(Rank block) const {
  const std::size_t position = index(order_->position_of(block));
  return {prefix_[position], prefix_[position + 1]};
}

Rank Verifier::block_at(Bytes byte) const {
  const auto after = std::upper_bound(prefix_.begin(), prefix_.end(), byte);
  return order_->rank_at(static_cast<Position>(after - prefix_.begin()) - 1);
}

Fault Verifier::fault(Rank rank, StepId step, Rank block, const std::string& text) const {
  std::string where = "rank " + number(rank);
  if (step >= 0) {
    where += ", step " + number(step) + " (" +
             describe(schedules_[index(rank)].steps[index(step)]) + ")";
  }
  if (block != no_rank) where += ", block " + number(block);
  return {rank, step, block, where + ": " + text};
}

std::optional<Fault> verify(const Contract& contract, const Order& order,
                            const std::vector<Bytes>& sizes_by_rank,
                            std::span<const Schedule> schedules) {
  return Verifier().verify(contract, order, sizes_by_rank, schedules);
}

}  // namespace tutti
