/// Acquiring knowledge and building plans for gathers and scatters.
#include "run/plan/rooted.hpp"

#include <algorithm>

#include "knowledge/fixed_tree.hpp"
#include "knowledge/tree_construction.hpp"
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

/// What the root's children should bring or get, by the root's own arguments.
std::vector<std::int64_t> sizes_of_subtrees(const RootedProblem& problem, const Order& order,
                                            const Knomial& tree) {
  std::vector<std::int64_t> sizes;
  for (const Position child : tree.children(0)) {
    const BlockRange blocks = tree.subtree(child);
    Bytes bytes = 0;
    for (Position at = blocks.begin; at < blocks.end; ++at)
      bytes += problem.size(order.rank_at(at));
    sizes.push_back(bytes);
  }
  return sizes;
}

Knowledge knowledge_of(const RootedProblem& problem) {
  return problem.all_sizes != nullptr ? Knowledge::all_sizes : problem.specification->knowledge();
}

Order order_for(const RootedProblem& problem, const std::vector<Bytes>* sizes) {
  if (problem.lacks_arrivals()) return Order::rotated(problem.p, problem.root);
  return order_of(*problem.specification, problem.p, problem.root,
                  {sizes, problem.arrivals, problem.placed});
}

/// Is each of these subtrees one of those? A threshold keeps some of those from the root's view.
bool are_among(const std::vector<Subtree>& grown, const std::vector<Subtree>& expected) {
  return std::all_of(grown.begin(), grown.end(), [&](const Subtree& child) {
    return std::any_of(expected.begin(), expected.end(), [&](const Subtree& other) {
      return child.root == other.root && child.bytes == other.bytes;
    });
  });
}

void append(std::vector<std::int64_t>& words, const Subtree& subtree) {
  words.insert(words.end(), {subtree.root, subtree.blocks.begin, subtree.blocks.end, subtree.bytes,
                             subtree.ready, static_cast<std::int64_t>(subtree.holes.size())});
  for (const BlockRange& hole : subtree.holes) words.insert(words.end(), {hole.begin, hole.end});
}

}  // namespace

int RootedPlanner::prepare(const RootedProblem& problem, Executor& executor, Transport& transport,
                           const Plan*& plan) {
  key_.describe(problem);
  key_.own = problem.own;
  key_.known.clear();
  announced_.clear();
  if (is_irregular(problem.specification->algorithm->collective)) {
    if (const int error = acquire(problem, executor, transport)) return error;
  }
  plan = &plan_of(problem);
  return 0;
}

const Plan& RootedPlanner::plan_of(const RootedProblem& problem) {
  key_.own = problem.own;
  const Plan* plan = cache_.find(key_);
  return plan != nullptr ? *plan : cache_.keep(build(problem));
}

/// Puts what this rank must know into `key_.known`, and a grown tree into `tree_`.
int RootedPlanner::acquire(const RootedProblem& problem, Executor& executor, Transport& transport) {
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
    case Knowledge::subtree_sizes: {
      const Order order = order_for(problem, nullptr);
      const Knomial tree(problem.p, spec.parameters.k);
      SubtreeSizes protocol(knomial_edges(order, tree, problem.rank), problem.own);
      const int error = executor.run(protocol, transport);
      key_.known.assign(protocol.children().begin(), protocol.children().end());
      if (error != 0 || !at_root) return error;
      if (key_.known == sizes_of_subtrees(problem, order, tree)) return 0;
      std::size_t at = 0;
      for (const Position child : tree.children(0)) {
        announced_.push_back({order.rank_at(child), key_.known[at++]});
      }
      return mismatch;
    }
    case Knowledge::all_sizes: {
      const int error = learn_sizes(problem, executor, transport, key_.known);
      if (error != 0) return error;
      return key_.known[static_cast<std::size_t>(problem.rank)] == problem.own ? 0 : misfit;
    }
    case Knowledge::tree_neighbours:
      break;
  }
  return construct_tree(problem, executor, transport);
}

int RootedPlanner::learn_sizes(const RootedProblem& problem, Executor& executor,
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

void RootedPlanner::note_all_sizes(const RootedProblem& problem) {
  for (Rank rank = 0; rank < problem.p; ++rank) key_.known.push_back(problem.size(rank));
}

/// The root, which knows all sizes, takes its own place from the central tree, as only that
/// shows which subtrees come to it by a threshold or a promotion; it takes part in the
/// construction for the others' sake.
int RootedPlanner::construct_tree(const RootedProblem& problem, Executor& executor,
                                  Transport& transport) {
  const Growth growth =
      growth_of(*problem.specification, problem.p, problem.root, problem.latency, problem.ready);
  const bool at_root = problem.rank == problem.root;
  std::vector<Rank> promoted;
  TreeConstruction::Accepts accepts;
  if (at_root) {
    note_all_sizes(problem);
    if (!root_tree_ || root_tree_->key != key_) {
      Growth plain = growth;
      plain.parameters.promote = false;
      root_tree_.emplace(RootTree{key_, OrderedTree(growth, key_.known),
                                  OrderedTree(plain, key_.known).neighbours(problem.rank)});
    }
    promoted = root_tree_->tree.promoted();
    accepts = [expected = &root_tree_->plain](const TreeNeighbours& grown) {
      return are_among(grown.children, expected->children);
    };
  }
  TreeConstruction construction(growth, problem.rank, problem.own, std::move(promoted),
                                std::move(accepts));
  if (const int error = executor.run(construction, transport)) return error;
  tree_ = construction.neighbours();
  if (at_root) {
    if (!construction.accepted()) {
      for (const Subtree& child : tree_.children) announced_.push_back({child.root, child.bytes});
      return mismatch;
    }
    tree_ = root_tree_->tree.neighbours(problem.rank);
    return 0;
  }
  key_.known.push_back(tree_.parent);
  append(key_.known, tree_.self);
  for (const Subtree& child : tree_.children) append(key_.known, child);
  return 0;
}

Plan RootedPlanner::build(const RootedProblem& problem) const {
  const Problem whole = problem_of(problem);
  Plan plan;
  plan.key = key_;
  plan.order = whole.order;
  plan.placement = place(schedule_of(*problem.specification, whole), whole.position(), problem.own,
                         problem.ends);
  return plan;
}

Problem RootedPlanner::problem_of(const RootedProblem& problem) const {
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
  if (spec.algorithm->takes("order")) return whole;
  if (knowledge_of(problem) == Knowledge::tree_neighbours) {
    whole.tree = tree_;
    return whole;
  }
  const Growth growth = growth_of(spec, problem.p, problem.root, problem.latency, problem.ready);
  const bool irregular = is_irregular(whole.collective);
  const OrderedTree tree =
      irregular ? OrderedTree(growth, key_.known) : OrderedTree(growth, problem.own);
  whole.tree = tree.neighbours(problem.rank);
  return whole;
}

Sizes RootedPlanner::sizes_of(const RootedProblem& problem, const Order& order) const {
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
