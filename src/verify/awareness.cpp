/// Propagates sets of ranks along dependent steps.
#include "verify/awareness.hpp"

namespace tutti {

void Awareness::start(const StepGraph& graph) {
  graph_ = &graph;
  sets_.start(graph.p(), graph.nodes() + graph.p());
}

void Awareness::complete(Node send) {
  const Node recv = graph_->partner(send);
  insert_known_before(send, send);
  insert_known_before(recv, recv);
  sets_.insert_all(recv, send);
}

void Awareness::insert_known_before(RankSets::Set set, Node node) {
  const Rank rank = graph_->rank_of(node);
  const StepId id = graph_->step_of(node);
  sets_.insert(set, rank);
  for (StepId earlier = 0; earlier < id; ++earlier) {
    const Step& wait = graph_->step(graph_->node(rank, earlier));
    if (wait.kind != StepKind::wait) continue;
    for (StepId named = wait.first; named < wait.last; ++named) {
      sets_.insert_all(set, graph_->node(rank, named));
    }
  }
  const Step& step = graph_->step(node);
  if (step.after >= 0) sets_.insert_all(set, graph_->node(rank, step.after));
}

Rank Awareness::unheard_of(Rank rank) {
  const RankSets::Set heard = graph_->nodes() + rank;
  sets_.insert(heard, rank);
  for (StepId step = 0; step < graph_->steps(rank); ++step) {
    sets_.insert_all(heard, graph_->node(rank, step));
  }
  return sets_.missing(heard, graph_->p());
}

}  // namespace tutti
