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
struct RootedProblem : CallProblem {
  Bytes own = 0;  ///< bytes of this rank's block
  /// Of all ranks, where they have been exchanged before; else null.
  const std::vector<Bytes>* all_sizes = nullptr;
  /// Bytes of any rank's block; called at the root only.
  std::function<Bytes(Rank)> size;
};

/// Prepares and keeps plans for one communicator.
class RootedPlanner {
 public:
  /// Sets `plan` to the plan of this rank, after whatever exchange its knowledge needs. Returns
  /// 0, an error code of the transport, `mismatch` or `misfit`.
  int prepare(const RootedProblem& problem, Executor& executor, Transport& transport,
              const Plan*& plan);

  /// The plan for a problem with what `prepare` has last learnt, even if it returned a misfit.
  const Plan& plan_of(const RootedProblem& problem);
  /// Sets `sizes` to those of all ranks. Collective. Returns an error code of the transport.
  static int learn_sizes(const RootedProblem& problem, Executor& executor, Transport& transport,
                         std::vector<Bytes>& sizes);

  /// So many bytes may a rank stage in later calls; 0: no bound. Alike on all ranks, and before the
  /// first call.
  void limit_staging(Bytes memory) { memory_ = memory; }

  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

  /// The root's sizes are not what the ranks said. Those wait for the messages that follow from
  /// what they said: `announced` at the root.
  static constexpr int mismatch = -1;
  /// This rank's size is not what the root says, and what the others expect of it.
  static constexpr int misfit = -2;

  /// A message that a neighbour of the root will send or expects. Zero bytes are no message.
  struct Announced {
    Rank peer = no_rank;
    Bytes bytes = 0;
  };
  [[nodiscard]] const std::vector<Announced>& announced() const { return announced_; }
  /// What the root says is this rank's size, after a misfit.
  [[nodiscard]] Bytes expected(Rank rank) const {
    return key_.known[static_cast<std::size_t>(rank)];
  }

 private:
  int acquire(const RootedProblem& problem, Executor& executor, Transport& transport);
  int learn_subtrees(const RootedProblem& problem, Executor& executor, Transport& transport);
  int construct_tree(const RootedProblem& problem, Executor& executor, Transport& transport);
  [[nodiscard]] Plan build(const RootedProblem& problem) const;
  [[nodiscard]] Problem problem_of(const RootedProblem& problem) const;
  [[nodiscard]] TreeNeighbours tree_of(const RootedProblem& problem, const Order& order) const;
  [[nodiscard]] Sizes sizes_of(const RootedProblem& problem, const Order& order) const;
  void note_all_sizes(const RootedProblem& problem);

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
  std::vector<Announced> announced_;
};

}  // namespace tutti
