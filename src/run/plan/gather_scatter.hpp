/// From a call's sizes to a plan: acquires knowledge, builds and places the schedule.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "protocols/tree_construction.hpp"
#include "run/plan/executor.hpp"
#include "run/plan/plan.hpp"

namespace tutti {

/// One rank's view of one call of a gather or scatter.
struct GatherScatterProblem : CallProblem {
  Bytes own = 0;  ///< bytes of this rank's block
  /// Of all ranks, where they have been exchanged before; else null.
  const std::vector<Bytes>* all_sizes = nullptr;
  /// Bytes of any rank's block; called at the root only.
  std::function<Bytes(Rank)> size;
};

/// Prepares and keeps plans for one communicator.
class GatherScatterPlanner {
 public:
  /// Sets `plan` to the plan of this rank, after whatever exchange its knowledge needs. Returns
  /// 0, an error code of the transport, `root_count_mismatch` or `count_mismatch`.
  int prepare(const GatherScatterProblem& problem, Executor& executor, Transport& transport,
              const Plan*& plan);

  /// The plan for a problem with what `prepare` has last learnt, even if it returned a
  /// count_mismatch.
  const Plan& plan_of(const GatherScatterProblem& problem);
  /// Sets `sizes` to those of all ranks. Collective. Returns an error code of the transport.
  static int learn_sizes(const GatherScatterProblem& problem, Executor& executor,
                         Transport& transport, std::vector<Bytes>& sizes);

  /// So many bytes may a rank stage in later calls; 0: no bound. Alike on all ranks, and before the
  /// first call.
  void limit_staging(Bytes memory) { memory_ = memory; }

  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

  /// The root's sizes are not what the ranks said. Those wait for the messages that follow from
  /// what they said: `expected_messages` at the root.
  static constexpr int root_count_mismatch = -1;
  /// This rank's size is not what the root says, and what the others expect of it.
  static constexpr int count_mismatch = -2;

  /// A message that a neighbour of the root will send or expects. Zero bytes are no message.
  struct ExpectedMessage {
    Rank peer = no_rank;
    Bytes bytes = 0;
  };
  [[nodiscard]] const std::vector<ExpectedMessage>& expected_messages() const {
    return expected_messages_;
  }
  /// What the root says is this rank's size, after a count_mismatch.
  [[nodiscard]] Bytes expected(Rank rank) const {
    return key_.known[static_cast<std::size_t>(rank)];
  }

 private:
  int acquire(const GatherScatterProblem& problem, Executor& executor, Transport& transport);
  int learn_subtrees(const GatherScatterProblem& problem, Executor& executor, Transport& transport);
  int construct_tree(const GatherScatterProblem& problem, Executor& executor, Transport& transport);
  [[nodiscard]] Plan build(const GatherScatterProblem& problem) const;
  [[nodiscard]] Problem problem_of(const GatherScatterProblem& problem) const;
  [[nodiscard]] TreeNeighbours tree_of(const GatherScatterProblem& problem,
                                       const Order& order) const;
  [[nodiscard]] Sizes sizes_of(const GatherScatterProblem& problem, const Order& order) const;
  void note_all_sizes(const GatherScatterProblem& problem);

  /// The root's tree for the sizes it was last called with.
  struct RootTree {
    PlanKey key;
    OrderedTree tree;
    TreeConstruction::Central central;
  };

  Bytes memory_ = 0;
  PlanCache cache_;
  PlanKey key_;          ///< of the current call; its memory is kept
  TreeNeighbours tree_;  ///< of the current call
  std::optional<RootTree> root_tree_;
  std::vector<ExpectedMessage> expected_messages_;
};

}  // namespace tutti
