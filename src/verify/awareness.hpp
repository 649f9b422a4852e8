/// The property of a barrier: no rank leaves before all ranks have entered.
#pragma once

#include "schedule/graph.hpp"
#include "verify/rank_sets.hpp"

namespace tutti {

/// For each step, the ranks that must have entered before it completes, at any timing: its own, and
/// those of the steps that it waits for or needs; for a receive also those of its send. Reuses its
/// memory between starts.
class Awareness {
 public:
  using Node = StepGraph::Node;

  /// The graph must outlive the execution.
  void start(const StepGraph& graph);
  /// Records that the message of `send` has completed, after all steps that its send and its
  /// receive wait for.
  void complete(Node send);
  /// A rank that may not have entered when `rank` leaves; no_rank if there is none.
  [[nodiscard]] Rank unheard_of(Rank rank);

 private:
  /// Adds the ranks that must have entered when `node` is posted.
  void insert_known_before(RankSets::Set set, Node node);

  const StepGraph* graph_ = nullptr;
  RankSets sets_;  ///< by node; then one for the end of a rank
};

}  // namespace tutti
