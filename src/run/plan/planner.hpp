/// Makes a plan from a call's sizes: acquires knowledge, builds the schedule and lowers it.
#pragma once

#include <optional>
#include <vector>

#include "protocols/tree_construction.hpp"
#include "run/plan/executor.hpp"
#include "run/plan/plan.hpp"

namespace tutti {

/// Prepares and keeps the plans of one communicator.
class Planner {
 public:
  /// Sets `plan` to this rank's plan, after the exchange that its knowledge needs: only gathers and
  /// scatters of varying sizes need one. The plan lasts until the generation changes. Returns 0, an
  /// error code of the transport or `count_mismatch`.
  int prepare(const CallProblem& problem, Executor& executor, Transport& transport,
              const Plan*& plan);
  /// Sets `sizes` to the bytes of all ranks' blocks. Collective. Returns an error code of the
  /// transport.
  static int learn_sizes(const CallProblem& problem, Executor& executor, Transport& transport,
                         std::vector<Bytes>& sizes);

  /// Sets the bytes that a rank may stage in later calls; 0: no bound. Call it with the same value
  /// on all ranks, before the first call.
  void limit_staging(Bytes memory) { memory_ = memory; }
  [[nodiscard]] Bytes memory() const { return memory_; }

  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

  /// The root's sizes differ from those that the ranks sent, or this rank's from the root's.
  static constexpr int count_mismatch = -1;

 private:
  int acquire(const CallProblem& problem, Executor& executor, Transport& transport);
  int learn_subtrees(const CallProblem& problem, Executor& executor, Transport& transport);
  int construct_tree(const CallProblem& problem, Executor& executor, Transport& transport);
  [[nodiscard]] Plan build(const CallProblem& problem) const;
  [[nodiscard]] Order order_for(const CallProblem& problem) const;
  [[nodiscard]] Sizes sizes_of(const CallProblem& problem, const Order& order) const;
  [[nodiscard]] Sizes sizes_known_to(const CallProblem& problem, const Order& order) const;
  [[nodiscard]] TreeNeighbours tree_of(const CallProblem& problem, const Problem& whole) const;
  [[nodiscard]] TreeNeighbours grown_tree(const CallProblem& problem, const Order& order) const;

  /// The root's tree for the sizes it was last called with.
  struct RootTree {
    PlanKey key;
    OrderedTree tree;
  };

  Bytes memory_ = 0;
  PlanCache cache_;
  PlanKey key_;          ///< of the current call; its memory is kept
  TreeNeighbours tree_;  ///< of the current call
  std::optional<RootTree> root_tree_;
};

}  // namespace tutti
