/// Executes the graph of all ranks' steps, and describes deadlocks.
#include "schedule/flow.hpp"

#include <algorithm>

namespace tutti {

void Flow::start(const FlowGraph& graph) {
  graph_ = &graph;
  state_.assign(index(graph.nodes()), State::closed);
  needs_ = graph.needs();
  gate_.assign(index(graph.p()), 0);
  all_done_.assign(index(graph.p()), 0);
  remaining_.assign(index(graph.p()), 0);
  slots_in_use_.assign(index(graph.p()), 0);
  queues_.clear();
  posted_.clear();
  taken_ = 0;
  unfinished_ = graph.nodes();
  for (Rank rank = 0; rank < graph.p(); ++rank) advance(rank);
}

void Flow::advance(Rank rank) {
  StepId& gate = gate_[index(rank)];
  for (const StepId end = graph_->steps(rank); gate < end; ++gate) {
    const Node node = graph_->node(rank, gate);
    const FlowGraph::Task& task = graph_->task(node);
    if (!task.waits) {
      state_[index(node)] = State::reached;
      if (needs_[index(node)] == 0) post(node);
      continue;
    }
    StepId& done = all_done_[index(rank)];
    while (done < gate && is_done(graph_->node(rank, done))) ++done;
    int remaining = 0;
    for (StepId named = std::max(task.first, done); named < task.last; ++named) {
      remaining += is_done(graph_->node(rank, named)) ? 0 : 1;
    }
    remaining_[index(rank)] = remaining;
    if (remaining > 0) return;
    finish(node);
  }
}

void Flow::post(Node node) {
  if (const int slots = graph_->task(node).slots; slots > 0) {
    const Rank rank = graph_->rank_of(node);
    int& in_use = slots_in_use_[index(rank)];
    if (in_use >= slots) {
      queues_[rank].push_back(node);
      return;
    }
    ++in_use;
  }
  state_[index(node)] = State::posted;
  posted_.push_back(node);
}

void Flow::finish(Node node) {
  state_[index(node)] = State::done;
  --unfinished_;
  if (graph_->task(node).slots == 0) return;
  const Rank rank = graph_->rank_of(node);
  --slots_in_use_[index(rank)];
  std::deque<Node>& queue = queues_[rank];
  if (queue.empty()) return;
  const Node next = queue.front();
  queue.pop_front();
  post(next);
}

void Flow::complete(Node node) {
  finish(node);
  graph_->for_each_reader(node, [&](Node reader) {
    const auto at = index(reader);
    if (--needs_[at] == 0 && state_[at] == State::reached) post(reader);
  });
  const Rank rank = graph_->rank_of(node);
  StepId& gate = gate_[index(rank)];
  if (gate == graph_->steps(rank)) return;
  const Node waiting = graph_->node(rank, gate);
  const FlowGraph::Task& wait = graph_->task(waiting);
  const StepId completed = graph_->step_of(node);
  if (completed < wait.first || completed >= wait.last) return;
  if (--remaining_[index(rank)] > 0) return;
  finish(waiting);
  ++gate;
  advance(rank);
}

Flow::Node Flow::obstacle(Node node) const {
  const Rank rank = graph_->rank_of(node);
  if (is_posted(node)) return graph_->partner(node);
  if (state_[index(node)] == State::closed) {
    const FlowGraph::Task& wait = graph_->task(graph_->node(rank, gate_[index(rank)]));
    for (StepId named = wait.first; named < wait.last; ++named) {
      if (!is_done(graph_->node(rank, named))) return graph_->node(rank, named);
    }
  }
  const auto queue = queues_.find(rank);
  if (queue != queues_.end() && std::ranges::count(queue->second, node) > 0) {
    Node taking = graph_->node(rank, 0);
    while (graph_->task(taking).slots == 0 || !is_posted(taking) || is_done(taking)) ++taking;
    return taking;
  }
  for (Node writer = graph_->node(rank, 0); writer < node; ++writer) {
    bool keeps = false;
    graph_->for_each_reader(writer, [&](Node reader) { keeps = keeps || reader == node; });
    if (keeps && !is_done(writer)) return writer;
  }
  return FlowGraph::none;
}

Flaw Flow::deadlock(const std::function<std::string(Node)>& in_words) const {
  Node node = 0;
  while (is_done(node)) ++node;
  // Following as many obstacles as there are nodes leads into the circle, or to a step that waits
  // for something else than steps.
  Node at = node;
  for (int i = 0; i < graph_->nodes() && at != FlowGraph::none; ++i) {
    node = at;
    at = obstacle(at);
  }
  if (at != FlowGraph::none) node = at;
  std::string circle = "deadlock: it";
  at = node;
  for (int links = 0; links < 8; ++links) {
    at = obstacle(at);
    circle += links > 0 ? ", which waits for " : " waits for ";
    if (at == node || at == FlowGraph::none) {
      circle += at == node ? "it" : "no step";
      break;
    }
    circle += "rank " + std::to_string(graph_->rank_of(at)) + "'s " + in_words(at);
  }
  return {graph_->rank_of(node), graph_->step_of(node), std::move(circle)};
}

}  // namespace tutti
