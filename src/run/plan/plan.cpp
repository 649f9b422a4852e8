/// The plan cache.
#include "run/plan/plan.hpp"

#include <algorithm>

namespace tutti {

namespace {

template <class Element>
std::size_t bytes_of(const std::vector<Element>& elements) {
  return elements.size() * sizeof(Element);
}

}  // namespace

void PlanKey::describe(const CallProblem& problem) {
  specification = *problem.specification;
  root = problem.root;
  traits = problem.traits;
  rank_order_class = problem.rank_order_class;
  arrival_times.clear();
  if (problem.ready != nullptr) {
    arrival_times.assign(problem.ready->begin(), problem.ready->end());
  } else if (specification.needs_arrivals() && problem.arrivals != nullptr) {
    arrival_times = *problem.arrivals;
  }
}

/// Less than what is allocated: vectors may keep a reserve.
std::size_t bytes_of(const Plan& plan) {
  std::size_t bytes = sizeof plan + bytes_of(plan.key.known) + bytes_of(plan.key.arrival_times) +
                      bytes_of(plan.program.operations) + bytes_of(plan.program.needs) +
                      2 * sizeof(Rank) * index(plan.order.size());
  for (const Operation& operation : plan.program.operations) {
    bytes += bytes_of(operation.from.blocks.holes) + bytes_of(operation.to.blocks.holes);
  }
  return bytes;
}

const Plan* PlanCache::find(const PlanKey& key) {
  const auto found =
      std::ranges::find_if(plans_, [&](const auto& plan) { return plan->key == key; });
  if (found == plans_.end()) return nullptr;
  std::rotate(plans_.begin(), found, found + 1);
  return plans_.front().get();
}

const Plan& PlanCache::keep(Plan plan) {
  bytes_ += bytes_of(plan);
  plans_.insert(plans_.begin(), std::make_unique<Plan>(std::move(plan)));
  while (plans_.size() > max_plans || (plans_.size() > 1 && bytes_ > max_bytes_)) {
    bytes_ -= bytes_of(*plans_.back());
    plans_.pop_back();
    ++dropped_;
  }
  return *plans_.front();
}

}  // namespace tutti
