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

bool receives(const Step& step) {
  return step.kind == StepKind::recv || step.kind == StepKind::await;
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

FlowGraph::Node StepGraph::build(std::span<const Schedule> schedules) {
  schedules_ = schedules;
  clear();
  for (const Schedule& schedule : schedules) add_steps(schedule);
  return pair_messages();
}

void StepGraph::add_steps(const Schedule& schedule) {
  const Node first = nodes();
  add_rank(schedule.steps.size());
  writers_.clear();
  readers_.clear();
  pending_.clear();
  const bool reducing = reduces(schedule.collective);
  for (Node node = first; node < nodes(); ++node) {
    const Step& step = schedule.steps[index(node - first)];
    task(node) = {step.kind == StepKind::wait, step.first, step.last, step.slots};
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
