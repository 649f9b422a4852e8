/// From a call's sizes to a plan: acquires knowledge, builds and places the schedule.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "algorithms/problems.hpp"
#include "run/executor.hpp"
#include "run/plan.hpp"

namespace tutti {

/// One rank's view of one call of a gather or scatter.
struct RootedProblem {
  const Specification* specification = nullptr;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  Bytes own = 0;  ///< bytes of this rank's block
  Ends ends;
  Bytes latency = 0;
  /// When the ranks are expected; null: not known, and an order by arrival is the rotated one.
  /// Equal on all ranks whose schedule depends on the order.
  const std::vector<double>* arrivals = nullptr;
  /// Of all ranks, where they have been exchanged before; else null.
  const std::vector<Bytes>* all_sizes = nullptr;
  /// Bytes of any rank's block; called at the root only.
  std::function<Bytes(Rank)> size;
};

/// Prepares and keeps plans for one communicator.
class RootedPlanner {
 public:
  /// Sets `plan` to the plan of this rank, after whatever exchange its knowledge needs. Returns
  /// 0, an error code of the transport, or `mismatch`.
  int prepare(const RootedProblem& problem, Executor& executor, Transport& transport,
              const Plan*& plan);

  /// Sets `sizes` to those of all ranks. Collective. Returns an error code of the transport.
  static int learn_sizes(const RootedProblem& problem, Executor& executor, Transport& transport,
                         std::vector<Bytes>& sizes);

  /// Changes whenever a plan may have been dropped.
  [[nodiscard]] unsigned generation() const { return cache_.kept(); }

  /// The root's sizes are not what the ranks said.
  static constexpr int mismatch = -1;

 private:
  int acquire(const RootedProblem& problem, Executor& executor, Transport& transport);
  int construct_tree(const RootedProblem& problem, Executor& executor, Transport& transport);
  [[nodiscard]] Plan build(const RootedProblem& problem) const;
  [[nodiscard]] Problem problem_of(const RootedProblem& problem) const;
  [[nodiscard]] Sizes sizes_of(const RootedProblem& problem, const Order& order) const;
  void note_all_sizes(const RootedProblem& problem);

  /// The root's tree for the sizes it was last called with.
  struct RootTree {
    PlanKey key;
    OrderedTree tree;
  };

  PlanCache cache_;
  PlanKey key_;          ///< of the current call; its memory is kept
  TreeNeighbours tree_;  ///< of the current call
  std::optional<RootTree> root_tree_;
};

}  // namespace tutti
