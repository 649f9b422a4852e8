/// Builds the graph of all ranks' steps.
#include "schedule/graph.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

/// Messages and notifications have sequences of their own.
enum Stream : int { messages, notifications };

bool overlap(const Blocks& a, const Blocks& b) {
  if (!a.range.overlaps(b.range)) return false;
  if (a.holes.empty() && b.holes.empty()) return !a.range.empty() && !b.range.empty();
  // Through the common range, from hole to hole of either.
  const BlockIndex end = std::min(a.range.end, b.range.end);
  auto x = a.holes.begin();
  auto y = b.holes.begin();
  for (BlockIndex at = std::max(a.range.begin, b.range.begin); at < end;) {
    while (x != a.holes.end() && x->end <= at) ++x;
    while (y != b.holes.end() && y->end <= at) ++y;
    if (x != a.holes.end() && x->begin <= at) {
      at = x->end;
    } else if (y != b.holes.end() && y->begin <= at) {
      at = y->end;
    } else {
      return true;
    }
  }
  return false;
}

/// The step names a peer: it is a message or a one-sided step.
bool has_peer(const Step& step) {
  return step.kind == StepKind::send || step.kind == StepKind::recv || is_one_sided(step.kind);
}

bool receives(const Step& step) {
  return step.kind == StepKind::recv || step.kind == StepKind::await;
}

/// The flaw of a reduce step, or an empty text.
std::string reduce_flaw(const Schedule& schedule, const Step& step) {
  if (!reduces(schedule.collective)) {
    return "a " + std::string(name_of(schedule.collective)) + " reduces nothing";
  }
  if (step.after < 0) return "it names no earlier receive of its blocks";
  const Step& received = schedule.steps[index(step.after)];
  const bool fits = receives(received) && received.staged && received.blocks == step.blocks &&
                    received.bytes == step.bytes && received.offset == step.offset &&
                    received.peer == step.peer;
  return fits ? ""
              : "step " + std::to_string(step.after) +
                    " has not received these blocks into staging memory";
}

/// The flaw in a step's operands, or an empty text.
std::string operand_flaw(const Schedule& schedule, StepId id) {
  const Step& step = schedule.steps[index(id)];
  if (step.kind == StepKind::wait) {
    const bool good = 0 <= step.first && step.first <= step.last && step.last <= id;
    return good ? "" : "it waits for steps that do not all precede it";
  }
  if (has_peer(step)) {
    if (step.peer < 0 || step.peer >= schedule.p) {
      return "its peer is not a rank from 0 to " + std::to_string(schedule.p - 1);
    }
    if (step.peer == schedule.rank) return "its peer is the rank itself";
  }
  if (step.after < -1 || step.after >= id) return "it needs a step that does not precede it";
  if (step.slots < 0) return "its slots are negative";
  if (step.bytes < 0 || step.offset < 0) return "its bytes are negative";
  const BlockRange range = step.blocks.range;
  if (const BlockIndex blocks = schedule.blocks();
      range.begin < 0 || range.end < range.begin || range.end > blocks) {
    return blocks == 0 ? "there are no blocks"
                       : "its blocks are not within 0 to " + std::to_string(blocks - 1);
  }
  BlockIndex at = range.begin;
  for (const BlockRange& hole : step.blocks.holes) {
    if (hole.begin < at || hole.end < hole.begin || hole.end > range.end) {
      return "its holes are not ascending within its blocks";
    }
    at = hole.end;
  }
  if (step.staged && (!receives(step) || !reduces(schedule.collective))) {
    return "only receives of a reduction use staging";
  }
  if (step.carries && step.kind != StepKind::notify && step.kind != StepKind::await) {
    return "only notifications carry bytes";
  }
  return step.kind == StepKind::reduce ? reduce_flaw(schedule, step) : "";
}

}  // namespace

std::string describe(const Step& step) {
  std::string text(name_of(step.kind));
  switch (step.kind) {
    case StepKind::wait:
      return text + " " + std::to_string(step.first) + "-" + std::to_string(step.last);
    case StepKind::recv:
    case StepKind::await:
    case StepKind::reduce:
      return text + " from " + std::to_string(step.peer);
    case StepKind::copy:
      return text;
    case StepKind::send:
    case StepKind::put:
    case StepKind::flush:
    case StepKind::notify:
      break;
  }
  return text + " to " + std::to_string(step.peer);
}

void FlowGraph::clear() {
  tasks_.clear();
  first_.assign(1, 0);
  rank_of_.clear();
  needs_.clear();
  first_edge_.clear();
  edges_.clear();
  sends_.clear();
  recvs_.clear();
}

void FlowGraph::add_rank(std::size_t steps) {
  const std::size_t end = tasks_.size() + steps;
  tasks_.resize(end);
  rank_of_.resize(end, p());
  needs_.resize(end, 0);
  first_edge_.resize(end, none);
  first_.push_back(static_cast<Node>(end));
}

void FlowGraph::add_need(Node reader, Node writer) {
  edges_.push_back({reader, first_edge_[index(writer)]});
  first_edge_[index(writer)] = static_cast<int>(edges_.size()) - 1;
  ++needs_[index(reader)];
}

FlowGraph::Node FlowGraph::pair_messages() {
  std::ranges::sort(sends_);
  std::ranges::sort(recvs_);
  const auto less = [](const End& one, const End& other) {
    return std::tie(one.from, one.to, one.stream) < std::tie(other.from, other.to, other.stream);
  };
  for (std::size_t i = 0; i < std::max(sends_.size(), recvs_.size()); ++i) {
    if (i == recvs_.size()) return sends_[i].node;
    if (i == sends_.size() || less(recvs_[i], sends_[i])) return recvs_[i].node;
    if (less(sends_[i], recvs_[i])) return sends_[i].node;
    task(sends_[i].node).partner = recvs_[i].node;
    task(recvs_[i].node).partner = sends_[i].node;
  }
  return none;
}

std::optional<Flaw> StepGraph::build(std::span<const Schedule> schedules) {
  schedules_ = schedules;
  clear();
  for (Rank rank = 0; rank < static_cast<Rank>(schedules.size()); ++rank) {
    if (auto flaw = add_steps(rank)) return flaw;
  }
  if (const Node alone = pair_messages(); alone != none) return unpaired(alone);
  for (Node node = 0; node < nodes(); ++node) {
    if (partner(node) == none || receives(step(node))) continue;
    if (step(node).bytes != step(partner(node)).bytes) return unequal(node);
  }
  return std::nullopt;
}

std::optional<Flaw> StepGraph::add_steps(Rank rank) {
  const Schedule& schedule = schedules_[index(rank)];
  if (schedule.rank != rank || index(schedule.p) != schedules_.size()) {
    return Flaw{rank, -1,
                "the schedule at index " + std::to_string(rank) + " of " +
                    std::to_string(schedules_.size()) + " is that of rank " +
                    std::to_string(schedule.rank) + " of " + std::to_string(schedule.p)};
  }
  const Node first = nodes();
  add_rank(schedule.steps.size());
  writers_.clear();
  readers_.clear();
  pending_.clear();
  const bool reducing = reduces(schedule.collective);
  for (Node node = first; node < end(rank); ++node) {
    const Step& step = schedule.steps[index(node - first)];
    task(node) = {step.kind == StepKind::wait, step.first, step.last, step.slots};
    if (std::string text = operand_flaw(schedule, node - first); !text.empty()) {
      return Flaw{rank, node - first, std::move(text)};
    }
    if (step.kind == StepKind::send) add_send(node, step.peer, messages);
    if (step.kind == StepKind::recv) add_recv(node, step.peer, messages);
    if (is_one_sided(step.kind)) add_one_sided(node);
    if (step.after >= 0) add_need(node, first + step.after);
    if (step.bytes == 0 || step.staged) continue;
    const bool writes = receives(step) || step.kind == StepKind::reduce;
    if (reducing) {
      add_conflicts(node, writes);
    } else if (!writes) {
      add_needs(node);
    }
    if (writes) {
      writers_.push_back(node);
    } else if (reducing) {
      readers_.push_back(node);
    }
  }
  return std::nullopt;
}

void StepGraph::add_one_sided(Node node) {
  const Step& step = this->step(node);
  switch (step.kind) {
    case StepKind::await:
      add_recv(node, step.peer, notifications);
      break;
    case StepKind::flush:
      for (const Node before : pending_[step.peer]) add_need(node, before);
      pending_.erase(step.peer);
      break;
    default:
      if (step.kind == StepKind::notify) add_send(node, step.peer, notifications);
      pending_[step.peer].push_back(node);
  }
}

void StepGraph::add_needs(Node reader) {
  for (const Node writer : writers_) {
    if (overlap(step(writer).blocks, step(reader).blocks)) add_need(reader, writer);
  }
}

void StepGraph::add_conflicts(Node node, bool writes) {
  const Blocks& blocks = step(node).blocks;
  Node covering = none;
  for (std::size_t i = writers_.size(); i-- > 0 && covering == none;) {
    const Blocks& written = step(writers_[i]).blocks;
    if (!overlap(written, blocks)) continue;
    add_need(node, writers_[i]);
    const bool covers = written.holes.empty() && written.range.begin <= blocks.range.begin &&
                        blocks.range.end <= written.range.end;
    if (covers) covering = writers_[i];
  }
  if (!writes) return;
  for (std::size_t i = readers_.size(); i-- > 0 && readers_[i] > covering;) {
    if (overlap(step(readers_[i]).blocks, blocks)) add_need(node, readers_[i]);
  }
}

Flaw StepGraph::unpaired(Node node) const {
  const Step& alone = step(node);
  const std::string missing = alone.kind == StepKind::send     ? "receive"
                              : alone.kind == StepKind::recv   ? "send"
                              : alone.kind == StepKind::notify ? "await"
                                                               : "notification";
  return {rank_of(node), step_of(node),
          "rank " + std::to_string(alone.peer) + " has no matching " + missing};
}

Flaw StepGraph::unequal(Node send) const {
  const Node recv = partner(send);
  const bool notifies = step(send).kind == StepKind::notify;
  return {rank_of(send), step_of(send),
          (notifies ? "notifies of " : "sends ") + std::to_string(step(send).bytes) +
              " bytes, but rank " + std::to_string(rank_of(recv)) + " expects " +
              std::to_string(step(recv).bytes) + " in its step " + std::to_string(step_of(recv))};
}

std::vector<Schedule> as_messages(std::span<const Schedule> schedules) {
  std::vector<Schedule> all(schedules.begin(), schedules.end());
  for (Schedule& schedule : all) {
    for (Step& step : schedule.steps) {
      step.carries = false;
      if (!is_one_sided(step.kind)) continue;
      const bool has_bytes = step.bytes > 0;
      if (step.kind == StepKind::notify && has_bytes) {
        step.kind = StepKind::send;
      } else if (step.kind == StepKind::await && has_bytes) {
        step.kind = StepKind::recv;
      } else {
        step.kind = StepKind::copy;
        step.peer = no_rank;
      }
    }
  }
  return all;
}

}  // namespace tutti
