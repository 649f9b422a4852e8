/// Builds the plans of collectives other than gathers and scatters.
#include "run/plan/collective.hpp"

#include <algorithm>

#include "lowering/lower.hpp"
#include "shapes/informed.hpp"

namespace tutti {

namespace {

/// The rank at position 0: the root, or without a root the rank that is expected first.
Rank first_rank(const CollectiveProblem& problem) {
  if (has_root(problem.specification->algorithm->collective) || problem.arrivals == nullptr) {
    return problem.root;
  }
  const auto first = std::min_element(problem.arrivals->begin(), problem.arrivals->end());
  return static_cast<Rank>(first - problem.arrivals->begin());
}

/// Sizes by rank may sort ranks, because all ranks know the same ones; sizes of pairs may not.
Order order_for(const CollectiveProblem& problem) {
  const Specification& spec = *problem.specification;
  if (problem.lacks_arrivals()) return Order::rotated(problem.p, problem.root);
  const Collective collective = spec.algorithm->collective;
  const bool by_rank = is_irregular(collective) && block_kind(collective) == BlockKind::ranks;
  const std::vector<Bytes> equal(static_cast<std::size_t>(problem.p), 0);
  return order_of(spec, problem.p, first_rank(problem),
                  {by_rank ? problem.sizes : &equal, problem.arrivals, problem.rank_order});
}

Sizes sizes_of(const CollectiveProblem& problem, const Order& order) {
  const std::vector<Bytes>& sizes = *problem.sizes;
  const Collective collective = problem.specification->algorithm->collective;
  switch (block_kind(collective)) {
    case BlockKind::none:
      return Sizes::equal(0);
    case BlockKind::parts:
      return Sizes::parts(sizes[0] / problem.unit, problem.unit, 1);
    case BlockKind::ranks:
      return is_irregular(collective) ? Sizes::all(sizes, order) : Sizes::equal(sizes[0]);
    case BlockKind::pairs:
      break;
  }
  if (!is_irregular(collective)) return Sizes::equal(sizes[0]);
  const auto middle = sizes.begin() + problem.p;
  return Sizes::pairs({sizes.begin(), middle}, {middle, sizes.end()}, order, problem.rank);
}

Problem problem_of(const CollectiveProblem& problem) {
  Problem whole = problem.outline();
  whole.order = order_for(problem);
  whole.sizes = sizes_of(problem, whole.order);
  if (problem.specification->follows_arrivals()) {
    const std::vector<Bytes> at_once(static_cast<std::size_t>(problem.p), 0);
    whole.tree = informed_tree(problem.ready ? *problem.ready : at_once, problem.root,
                               problem.half_performance_length +
                                   whole.vector_bytes())[static_cast<std::size_t>(problem.rank)];
  }
  return whole;
}

}  // namespace

const Plan& CollectivePlanner::plan_of(const CollectiveProblem& problem) {
  key_.describe(problem);
  key_.known = *problem.sizes;
  if (reduces(problem.specification->algorithm->collective)) key_.known.push_back(problem.unit);
  const Plan* plan = cache_.find(key_);
  return plan != nullptr ? *plan : cache_.keep(build(problem));
}

Plan CollectivePlanner::build(const CollectiveProblem& problem) const {
  const Problem whole = problem_of(problem);
  const Schedule schedule = schedule_of(*problem.specification, whole);
  Plan plan;
  plan.key = key_;
  plan.order = whole.order;
  plan.assignment = lower(schedule, whole, problem.traits);
  return plan;
}

}  // namespace tutti
