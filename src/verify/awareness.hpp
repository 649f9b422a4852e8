/// Who knows that whom has entered: what a barrier is about.
#pragma once

#include "schedule/graph.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// For each step, the ranks that must have entered before it completes, whatever the timing: its
/// own, those of the steps that it waits for or comes after, and for a receive those of its send.
/// Keeps its memory from start to start.
class Awareness {
 public:
  using Node = StepGraph::Node;

  /// The graph must outlive the execution.
  void start(const StepGraph& graph);
  /// A message, named by its send, has been completed after all that both its ends wait for.
  void complete(Node send);
  /// A rank whose entry `rank` need not have heard of when it leaves; no_rank if there is none.
  [[nodiscard]] Rank unheard_of(Rank rank);

 private:
  /// Adds what is known when `node` is posted.
  void insert_known_before(RankSets::Set set, Node node);

  const StepGraph* graph_ = nullptr;
  RankSets sets_;  ///< by node; then one for what a rank knows at the end
};

}  // namespace tutti
