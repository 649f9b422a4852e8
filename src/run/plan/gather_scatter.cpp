/// Acquires the knowledge of gathers and scatters and builds their plans.
#include "run/plan/gather_scatter.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/staging.hpp"
#include "lowering/lower.hpp"
#include "protocols/fixed_tree.hpp"
#include "protocols/tree_construction.hpp"
#include "schedule/builder.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

namespace {

TreeEdges knomial_edges(const Order& order, const Knomial& tree, Rank rank) {
  TreeEdges edges;
  const Position me = order.position_of(rank);
  if (me != 0) edges.parent = order.rank_at(tree.parent(me));
  for (const Position child : tree.children(me)) edges.children.push_back(order.rank_at(child));
  return edges;
}

Knowledge knowledge_of(const GatherScatterProblem& problem) {
  return problem.all_sizes != nullptr ? Knowledge::all_sizes : problem.specification->knowledge();
}

Order order_for(const GatherScatterProblem& problem, const std::vector<Bytes>* sizes) {
  if (problem.lacks_arrivals()) return Order::rotated(problem.p, problem.root);
  return order_of(*problem.specification, problem.p, problem.root,
                  {sizes, problem.arrivals, problem.rank_order});
}

void append(std::vector<std::int64_t>& words, const Subtree& subtree) {
  words.insert(words.end(), {subtree.root, subtree.blocks.begin, subtree.blocks.end, subtree.bytes,
                             subtree.ready, static_cast<std::int64_t>(subtree.holes.size())});
  for (const BlockRange& hole : subtree.holes) words.insert(words.end(), {hole.begin, hole.end});
}

}  // namespace

int GatherScatterPlanner::prepare(const GatherScatterProblem& problem, Executor& executor,
                                  Transport& transport, const Plan*& plan) {
  key_.describe(problem);
  key_.own = problem.own;
  key_.known.clear();
  expected_messages_.clear();
  if (is_irregular(problem.specification->algorithm->collective)) {
    if (const int error = acquire(problem, executor, transport)) return error;
  }
  plan = &plan_of(problem);
  return 0;
}

const Plan& GatherScatterPlanner::plan_of(const GatherScatterProblem& problem) {
  key_.own = problem.own;
  const Plan* plan = cache_.find(key_);
  return plan != nullptr ? *plan : cache_.keep(build(problem));
}

/// Puts this rank's knowledge into `key_.known`, and a grown tree into `tree_`.
int GatherScatterPlanner::acquire(const GatherScatterProblem& problem, Executor& executor,
                                  Transport& transport) {
  const Specification& spec = *problem.specification;
  const bool at_root = problem.rank == problem.root;
  if (problem.all_sizes != nullptr) {
    key_.known = *problem.all_sizes;
    return 0;
  }
  switch (spec.knowledge()) {
    case Knowledge::nothing:
      if (at_root) note_all_sizes(problem);
      return 0;
    case Knowledge::subtree_sizes:
      return learn_subtrees(problem, executor, transport);
    case Knowledge::all_sizes: {
      const int error = learn_sizes(problem, executor, transport, key_.known);
      if (error != 0) return error;
      return key_.known[static_cast<std::size_t>(problem.rank)] == problem.own ? 0 : count_mismatch;
    }
    case Knowledge::tree_neighbours:
      break;
  }
  return construct_tree(problem, executor, transport);
}

/// The root computes from all sizes what its children should send or receive, and which further
/// ranks become its children because they are too heavy for those between.
int GatherScatterPlanner::learn_subtrees(const GatherScatterProblem& problem, Executor& executor,
                                         Transport& transport) {
  const Specification& spec = *problem.specification;
  const Order order = order_for(problem, nullptr);
  const Growth growth = fixed_growth(spec, problem.p, memory_);
  const Knomial tree(problem.p, spec.parameters.k);
  SubtreeSizes protocol(knomial_edges(order, tree, problem.rank), problem.own, growth.heaviest());
  const int error = executor.run(protocol, transport);
  const std::vector<Bytes>& received = protocol.children();
  if (problem.rank != problem.root || error != 0) {
    key_.known.assign(received.begin(), received.end());
    return error;
  }
  note_all_sizes(problem);
  tree_ = OrderedTree(growth, by_position(key_.known, order)).neighbours(0);
  const bool are_equal =
      std::equal(received.begin(), received.end(), tree_.children.begin(),
                 [](Bytes bytes, const Subtree& child) { return bytes == child.bytes; });
  if (are_equal) return 0;
  std::size_t at = 0;
  for (const Position child : tree.children(0)) {
    expected_messages_.push_back({order.rank_at(child), received[at++]});
  }
  return root_count_mismatch;
}

int GatherScatterPlanner::learn_sizes(const GatherScatterProblem& problem, Executor& executor,
                                      Transport& transport, std::vector<Bytes>& sizes) {
  const Order order = Order::rotated(problem.p, problem.root);
  sizes.assign(static_cast<std::size_t>(problem.p), 0);
  for (Rank rank = 0; problem.rank == problem.root && rank < problem.p; ++rank) {
    sizes[static_cast<std::size_t>(rank)] = problem.size(rank);
  }
  AllSizes protocol(knomial_edges(order, Knomial(problem.p, 2), problem.rank), sizes);
  const int error = executor.run(protocol, transport);
  sizes = protocol.sizes();
  return error;
}

void GatherScatterPlanner::note_all_sizes(const GatherScatterProblem& problem) {
  for (Rank rank = 0; rank < problem.p; ++rank) key_.known.push_back(problem.size(rank));
}

/// The root knows all sizes and takes its own neighbours from the central tree, because only that
/// shows which subtrees a threshold or a promotion moves to it. It takes part in the construction
/// because the others need it.
int GatherScatterPlanner::construct_tree(const GatherScatterProblem& problem, Executor& executor,
                                         Transport& transport) {
  const Growth growth = growth_of(*problem.specification, problem.p, problem.root,
                                  problem.half_performance_length, problem.ready, memory_);
  const bool at_root = problem.rank == problem.root;
  TreeConstruction::Central central;
  if (at_root) {
    note_all_sizes(problem);
    if (!root_tree_ || root_tree_->key != key_) {
      const OrderedTree tree(growth, key_.known);
      root_tree_.emplace(
          RootTree{key_, tree, TreeConstruction::Central::of(growth, tree, key_.known)});
    }
    central = root_tree_->central;
  }
  TreeConstruction construction(growth, problem.rank, problem.own, std::move(central));
  if (const int error = executor.run(construction, transport)) return error;
  tree_ = construction.neighbours();
  if (at_root) {
    if (!construction.accepted()) {
      for (const Subtree& child : tree_.children)
        expected_messages_.push_back({child.root, child.bytes});
      return root_count_mismatch;
    }
    tree_ = root_tree_->tree.neighbours(problem.rank);
    return 0;
  }
  key_.known.push_back(tree_.parent);
  append(key_.known, tree_.self);
  for (const Subtree& child : tree_.children) append(key_.known, child);
  return 0;
}

Plan GatherScatterPlanner::build(const GatherScatterProblem& problem) const {
  const Problem whole = problem_of(problem);
  const bool knows_all = knowledge_of(problem) == Knowledge::all_sizes;
  const Bytes bytes = !is_irregular(whole.collective) ? problem.own * problem.p
                      : knows_all ? std::accumulate(key_.known.begin(), key_.known.end(), Bytes{0})
                                  : 0;
  const Specification spec = within(*problem.specification, problem.p, bytes, memory_);
  Plan plan;
  plan.key = key_;
  plan.order = whole.order;
  plan.assignment = lower(schedule_of(spec, whole), whole, problem.traits);
  return plan;
}

Problem GatherScatterPlanner::problem_of(const GatherScatterProblem& problem) const {
  const Specification& spec = *problem.specification;
  const bool at_root = problem.rank == problem.root;
  const bool knows_all = knowledge_of(problem) == Knowledge::all_sizes ||
                         (at_root && knowledge_of(problem) == Knowledge::nothing);
  Problem whole = problem.outline();
  if (!spec.algorithm->takes("order") || spec.order != OrderName::by_size) {
    whole.order = order_for(problem, nullptr);
  } else if (!is_irregular(whole.collective)) {
    const std::vector<Bytes> equal(static_cast<std::size_t>(problem.p), problem.own);
    whole.order = order_for(problem, &equal);
  } else if (knows_all) {
    whole.order = order_for(problem, &key_.known);
  } else {
    whole.order = Order::natural(problem.p, problem.root);  // a leaf of a linear shape
  }
  whole.sizes = sizes_of(problem, whole.order);
  if (spec.algorithm->staging == Staging::subtrees) whole.tree = tree_of(problem, whole.order);
  return whole;
}

/// The neighbours in a grown tree, or in a k-nomial one from which subtrees may be cut off; else
/// none.
TreeNeighbours GatherScatterPlanner::tree_of(const GatherScatterProblem& problem,
                                             const Order& order) const {
  const Specification& spec = *problem.specification;
  const bool irregular = is_irregular(spec.algorithm->collective);
  const bool knows_all = knowledge_of(problem) == Knowledge::all_sizes;
  if (!is_fixed_tree(spec)) {
    if (knowledge_of(problem) == Knowledge::tree_neighbours) return tree_;
    const Growth growth = growth_of(spec, problem.p, problem.root, problem.half_performance_length,
                                    problem.ready, memory_);
    const OrderedTree tree =
        irregular ? OrderedTree(growth, key_.known) : OrderedTree(growth, problem.own);
    return tree.neighbours(problem.rank);
  }
  const Growth growth = fixed_growth(spec, problem.p, memory_);
  const Position me = order.position_of(problem.rank);
  if (!irregular) {
    if (problem.own * problem.p <= growth.heaviest()) return {};
    return in_order(OrderedTree(growth, problem.own).neighbours(me), order);
  }
  if (knows_all) {
    return in_order(OrderedTree(growth, by_position(key_.known, order)).neighbours(me), order);
  }
  if (problem.rank == problem.root) return in_order(tree_, order);
  return in_order(fixed_position(growth, me, problem.own, {key_.known.begin(), key_.known.end()}),
                  order);
}

Sizes GatherScatterPlanner::sizes_of(const GatherScatterProblem& problem,
                                     const Order& order) const {
  const Specification& spec = *problem.specification;
  if (!is_irregular(spec.algorithm->collective)) return Sizes::equal(problem.own);
  const Position me = order.position_of(problem.rank);
  std::vector<Sizes::Known> known = {{{me, me + 1}, problem.own}};
  switch (knowledge_of(problem)) {
    case Knowledge::all_sizes:
      return Sizes::all(key_.known, order);
    case Knowledge::nothing:
      if (problem.rank == problem.root) return Sizes::all(key_.known, order);
      break;
    case Knowledge::subtree_sizes: {
      if (problem.rank == problem.root) return Sizes::all(key_.known, order);
      const Knomial tree(problem.p, spec.parameters.k);
      std::size_t child = 0;
      for (const Position position : tree.children(me)) {
        known.push_back({tree.subtree(position), key_.known[child++]});
      }
      break;
    }
    case Knowledge::tree_neighbours:
      break;
  }
  return Sizes::some(std::move(known));
}

}  // namespace tutti
