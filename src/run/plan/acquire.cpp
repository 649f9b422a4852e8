/// Exchanges the sizes that a gather or scatter of varying sizes needs.
#include <algorithm>

#include "algorithms/staging.hpp"
#include "protocols/fixed_tree.hpp"
#include "run/plan/planner.hpp"
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

void append(std::vector<std::int64_t>& words, const Subtree& subtree) {
  words.insert(words.end(), {subtree.root, subtree.blocks.begin, subtree.blocks.end, subtree.bytes,
                             subtree.ready, static_cast<std::int64_t>(subtree.holes.size())});
  for (const BlockRange& hole : subtree.holes) words.insert(words.end(), {hole.begin, hole.end});
}

}  // namespace

/// Puts this rank's knowledge into `key_.known`, and a grown tree into `tree_`.
int Planner::acquire(const CallProblem& problem, Executor& executor, Transport& transport) {
  if (problem.sizes_exchanged) {
    key_.known = *problem.sizes;
    return 0;
  }
  switch (problem.specification->knowledge()) {
    case Knowledge::nothing:
      if (problem.at_root()) key_.known = *problem.sizes;
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
int Planner::learn_subtrees(const CallProblem& problem, Executor& executor, Transport& transport) {
  const Specification& spec = *problem.specification;
  const Order order = order_for(problem);
  const Growth growth = fixed_growth(spec, problem.p, memory_);
  const Knomial tree(problem.p, spec.parameters.k);
  SubtreeSizes protocol(knomial_edges(order, tree, problem.rank), problem.own, growth.heaviest());
  const int error = executor.run(protocol, transport);
  const std::vector<Bytes>& received = protocol.children();
  if (!problem.at_root() || error != 0) {
    key_.known.assign(received.begin(), received.end());
    return error;
  }
  key_.known = *problem.sizes;
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

int Planner::learn_sizes(const CallProblem& problem, Executor& executor, Transport& transport,
                         std::vector<Bytes>& sizes) {
  const Order order = Order::rotated(problem.p, problem.root);
  if (problem.at_root()) {
    sizes = *problem.sizes;
  } else {
    sizes.assign(static_cast<std::size_t>(problem.p), 0);
  }
  AllSizes protocol(knomial_edges(order, Knomial(problem.p, 2), problem.rank), sizes);
  const int error = executor.run(protocol, transport);
  sizes = protocol.sizes();
  return error;
}

/// The root knows all sizes and takes its own neighbours from the central tree, because only that
/// shows which subtrees a threshold or a promotion moves to it. It takes part in the construction
/// because the others need it.
int Planner::construct_tree(const CallProblem& problem, Executor& executor, Transport& transport) {
  const Growth growth = growth_of(*problem.specification, problem.p, problem.root,
                                  problem.half_performance_length, problem.ready, memory_);
  TreeConstruction::Central central;
  if (problem.at_root()) {
    key_.known = *problem.sizes;
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
  if (problem.at_root()) {
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

}  // namespace tutti
