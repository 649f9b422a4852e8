/// Acquires the sizes that a plan needs, builds it, and keeps it.
#include "run/plan/planner.hpp"

#include <algorithm>

#include "algorithms/staging.hpp"
#include "lowering/lower.hpp"
#include "protocols/fixed_tree.hpp"

namespace tutti {

namespace {

void append(std::vector<std::int64_t>& words, const Subtree& subtree) {
  words.insert(words.end(), {subtree.root, subtree.blocks.begin, subtree.blocks.end, subtree.bytes,
                             subtree.ready, static_cast<std::int64_t>(subtree.holes.size())});
  for (const BlockRange& hole : subtree.holes) words.insert(words.end(), {hole.begin, hole.end});
}

template <class Element>
std::size_t bytes_of(const std::vector<Element>& elements) {
  return elements.size() * sizeof(Element);
}

}  // namespace

void PlanKey::describe(const CallProblem& problem) {
  static_cast<CallTraits&>(*this) = problem;
  specification = *problem.specification;
  sizes = *problem.sizes;
  known.clear();
  arrival_times.clear();
  if (problem.ready != nullptr) {
    arrival_times.assign(problem.ready->begin(), problem.ready->end());
  } else if (specification.needs_arrivals() && problem.arrivals != nullptr) {
    arrival_times = *problem.arrivals;
  }
}

/// Less than what is allocated: vectors may keep a reserve.
std::size_t bytes_of(const Program& program) {
  std::size_t bytes =
      bytes_of(program.operations) + bytes_of(program.needs) + bytes_of(program.calls);
  for (const Operation& operation : program.operations) {
    bytes += bytes_of(operation.from.blocks.holes) + bytes_of(operation.to.blocks.holes);
  }
  for (const InnerCall& call : program.calls) {
    for (const InnerBuffer* buffer : {&call.send, &call.receive}) {
      bytes += bytes_of(buffer->counts) + bytes_of(buffer->displacements);
    }
  }
  return bytes;
}

std::size_t bytes_of(const Plan& plan) {
  return sizeof plan + plan.key.sizes.memory() + bytes_of(plan.key.known) +
         bytes_of(plan.key.arrival_times) + bytes_of(plan.program) +
         2 * sizeof(Rank) * index(plan.order.size());
}

int Planner::prepare(const CallProblem& problem, const Plan*& plan) {
  const Collective collective = problem.collective();
  key_.describe(problem);
  learned_ = {};
  if (is_gather_or_scatter(collective) && is_irregular(collective)) {
    if (const int error = acquire(problem)) return error;
  }
  plan = cache_.find(key_);
  if (plan == nullptr) plan = &cache_.keep(build(problem));
  return 0;
}

/// From `key_`. Kept for calls alike, because the root of a gatherv or scatterv along a tree needs
/// the central tree in every call.
const ProblemMaker& Planner::maker(const CallProblem& problem) {
  if (maker_ && maker_->key == key_) return maker_->maker;
  const Specification& specification = *problem.specification;
  const KnownCall known = {
      .specification = specification,
      .p = problem.p,
      .root = problem.root,
      .unit = problem.unit,
      .order = order_of(specification, problem.p, problem.root,
                        {&key_.sizes.by_rank, problem.arrivals, problem.rank_order}),
      .ready = problem.ready,
      .half_performance_length = settings_.half_performance_length,
      .memory = settings_.staging};
  maker_.emplace(KeptMaker{key_, ProblemMaker(known, key_.sizes)});
  return maker_->maker;
}

/// Completes `key_` and `learned_` by this rank's knowledge.
int Planner::acquire(const CallProblem& problem) {
  if (problem.sizes_exchanged) return 0;
  switch (problem.specification->knowledge()) {
    case Knowledge::nothing:
      return 0;
    case Knowledge::subtree_sizes:
      return learn_subtrees(problem);
    case Knowledge::all_sizes: {
      const int error = learn_sizes(problem, key_.sizes.by_rank);
      if (error != 0) return error;
      return key_.sizes.of(problem.rank) == key_.sizes.own ? 0 : count_mismatch;
    }
    case Knowledge::tree_neighbours:
      break;
  }
  return construct_tree(problem);
}

/// The root computes from all sizes what its children should send or receive, and which further
/// ranks become its children because they are too heavy for those between.
int Planner::learn_subtrees(const CallProblem& problem) {
  const ProblemMaker& known = maker(problem);
  TreeEdges edges = knomial_edges(known.order(), problem.specification->parameters.k, problem.rank);
  std::vector<Bytes> received;
  const int error =
      run_(subtree_sizes(std::move(edges), key_.sizes.own, known.growth().heaviest(), received));
  if (!problem.at_root() || error != 0) {
    key_.known = learned_.subtrees = std::move(received);
    return error;
  }
  const std::vector<Subtree> children = known.tree()->neighbours(0).children;
  const bool are_equal =
      std::equal(received.begin(), received.end(), children.begin(),
                 [](Bytes bytes, const Subtree& child) { return bytes == child.bytes; });
  return are_equal ? 0 : count_mismatch;
}

int Planner::learn_sizes(const CallProblem& problem, std::vector<Bytes>& sizes) const {
  const Order order = Order::rotated(problem.p, problem.root);
  if (problem.at_root()) {
    sizes = problem.sizes->by_rank;
  } else {
    sizes.assign(index(problem.p), 0);
  }
  return run_(all_sizes(knomial_edges(order, 2, problem.rank), sizes));
}

/// The root knows all sizes and takes its own neighbours from the central tree, because only that
/// shows which subtrees a threshold or a promotion moves to it. It takes part in the construction
/// because the others need it.
int Planner::construct_tree(const CallProblem& problem) {
  const ProblemMaker& known = maker(problem);
  GrownTree grown;
  Protocol construction =
      tutti::construct_tree(known.growth(), problem.rank, key_.sizes.own, known.tree(), grown);
  if (const int error = run_(std::move(construction))) return error;
  if (problem.at_root()) return grown.is_accepted ? 0 : count_mismatch;
  learned_.tree = std::move(grown.neighbours);
  key_.known.push_back(learned_.tree.parent);
  append(key_.known, learned_.tree.self);
  for (const Subtree& child : learned_.tree.children) append(key_.known, child);
  return 0;
}

Plan Planner::build(const CallProblem& problem) {
  const ProblemMaker& known = maker(problem);
  const Problem whole = known.at(problem.rank, key_.sizes, learned_);
  Plan plan;
  plan.key = key_;
  plan.order = whole.order;
  plan.program =
      lower(schedule_of(known.specification(), whole), whole, key_.sizes.own, problem.traits);
  if (known.specification() != *problem.specification) plan.instead = known.specification();
  return plan;
}

}  // namespace tutti
