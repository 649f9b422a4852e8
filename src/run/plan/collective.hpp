/// From a call's sizes to a plan, for collectives in which every rank knows what it needs to know
/// from its own arguments.
#pragma once

#include <vector>

#include "run/plan/plan.hpp"

namespace tutti {

/// One rank's view of one call of any collective but gathers and scatters.
struct CollectiveProblem : CallProblem {
  /// Packed bytes, as the collective wants them: of a block where all are equal, of a vector; by
  /// rank; of what goes to each rank and then of what comes from each; nothing for a barrier.
  const std::vector<Bytes>* sizes = nullptr;
  Bytes unit = 1;     ///< reductions: of an element, which is not cut
  Bytes padding = 0;  ///< reductions: see ReductionTraits
};

/// Prepares and keeps plans for one communicator.
class CollectivePlanner {
 public:
  /// The plan of this rank. It lasts until the generation changes.
  const Plan& plan_of(const CollectiveProblem& problem);
  /// Changes whenever a plan is dropped.
  [[nodiscard]] unsigned generation() const { return cache_.dropped(); }

 private:
  [[nodiscard]] Plan build(const CollectiveProblem& problem) const;

  PlanCache cache_;
  PlanKey key_;  ///< of the current call; its memory is kept
};

}  // namespace tutti
