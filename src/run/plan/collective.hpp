/// Makes a plan from a call's sizes, for collectives in which every rank's own arguments give all
/// sizes that it needs.
#pragma once

#include <vector>

#include "run/plan/plan.hpp"

namespace tutti {

/// One rank's view of one call of a collective other than gathers and scatters.
struct CollectiveProblem : CallProblem {
  /// Packed bytes, by collective: of one block if all are equal, of the vector, or of the block of
  /// each rank; for pairs, of the blocks to each rank and then from each rank; empty for a barrier.
  const std::vector<Bytes>* sizes = nullptr;
  Bytes unit = 1;  ///< reductions: bytes of an element, which is never split
};

/// Prepares and keeps plans for one communicator.
class CollectivePlanner {
 public:
  /// This rank's plan. It lasts until the generation changes.
  const Plan& plan_of(const CollectiveProblem& problem);
  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

 private:
  [[nodiscard]] Plan build(const CollectiveProblem& problem) const;

  PlanCache cache_;
  PlanKey key_;  ///< of the current call; its memory is kept
};

}  // namespace tutti
