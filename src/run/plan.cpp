/// The plan cache.
#include "run/plan.hpp"

#include <algorithm>

namespace tutti {

const Plan* PlanCache::find(const PlanKey& key) {
  const auto found = std::find_if(plans_.begin(), plans_.end(),
                                  [&](const auto& plan) { return plan->key == key; });
  if (found == plans_.end()) return nullptr;
  std::rotate(plans_.begin(), found, found + 1);
  return plans_.front().get();
}

const Plan& PlanCache::keep(Plan plan) {
  if (plans_.size() == capacity) {
    plans_.pop_back();
    ++dropped_;
  }
  plans_.insert(plans_.begin(), std::make_unique<Plan>(std::move(plan)));
  return *plans_.front();
}

}  // namespace tutti
