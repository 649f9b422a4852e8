/// Acquires the sizes that a plan needs, builds it, and keeps it.
#include "run/plan/planner.hpp"

#include <algorithm>

#include "algorithms/staging.hpp"
#include "lowering/lower.hpp"
#include "protocols/fixed_tree.hpp"
#include "shapes/informed.hpp"
#include "shapes/knomial.hpp"

namespace tutti {

namespace {

void append(std::vector<std::int64_t>& words, const Subtree& subtree) {
  words.insert(words.end(), {subtree.root, subtree.blocks.begin, subtree.blocks.end, subtree.bytes,
                             subtree.ready, static_cast<std::int64_t>(subtree.holes.size())});
  for (const BlockRange& hole : subtree.holes) words.insert(words.end(), {hole.begin, hole.end});
}

/// What this rank knows of the sizes of a gather or scatter.
Knowledge knowledge_of(const CallProblem& problem) {
  return problem.sizes_exchanged ? Knowledge::all_sizes : problem.specification->knowledge();
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
  if (is_gather_or_scatter(collective) && is_irregular(collective)) {
    if (const int error = acquire(problem)) return error;
  }
  plan = cache_.find(key_);
  if (plan == nullptr) plan = &cache_.keep(build(problem));
  return 0;
}

/// Completes `key_` by this rank's knowledge, and puts a grown tree into `tree_`.
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
  const Specification& spec = *problem.specification;
  const Order order = order_for(problem);
  const Growth growth = growth_for(problem);
  TreeEdges edges = knomial_edges(order, spec.parameters.k, problem.rank);
  std::vector<Bytes> received;
  const int error =
      run_(subtree_sizes(std::move(edges), key_.sizes.own, growth.heaviest(), received));
  if (!problem.at_root() || error != 0) {
    key_.known.assign(received.begin(), received.end());
    return error;
  }
  tree_ = OrderedTree(growth, by_position(key_.sizes.by_rank, order)).neighbours(0);
  const bool are_equal =
      std::equal(received.begin(), received.end(), tree_.children.begin(),
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
  const Growth growth = growth_for(problem);
  if (problem.at_root() && (!root_tree_ || root_tree_->key != key_)) {
    root_tree_.emplace(RootTree{key_, OrderedTree(growth, key_.sizes.by_rank)});
  }
  GrownTree grown;
  Protocol construction = tutti::construct_tree(
      growth, problem.rank, key_.sizes.own, problem.at_root() ? &root_tree_->tree : nullptr, grown);
  if (const int error = run_(std::move(construction))) return error;
  if (problem.at_root()) {
    if (!grown.is_accepted) return count_mismatch;
    tree_ = root_tree_->tree.neighbours(problem.rank);
    return 0;
  }
  tree_ = std::move(grown.neighbours);
  key_.known.push_back(tree_.parent);
  append(key_.known, tree_.self);
  for (const Subtree& child : tree_.children) append(key_.known, child);
  return 0;
}

Plan Planner::build(const CallProblem& problem) const {
  Problem whole;
  whole.collective = problem.collective();
  whole.p = problem.p;
  whole.rank = problem.rank;
  whole.root = problem.root;
  whole.parameters = problem.specification->parameters;
  whole.order = order_for(problem);
  whole.sizes = sizes_of(problem, whole.order);
  whole.tree = tree_of(problem, whole);
  Specification specification = *problem.specification;
  if (is_gather_or_scatter(whole.collective)) {
    const bool knows_all = knowledge_of(problem) == Knowledge::all_sizes;
    const bool knows_bytes = knows_all || !is_irregular(whole.collective);
    const Bytes bytes = knows_bytes ? key_.sizes.total(problem.p) : 0;
    specification = within(specification, problem.p, bytes, settings_.staging);
  }
  Plan plan;
  plan.key = key_;
  plan.order = whole.order;
  plan.program = lower(schedule_of(specification, whole), whole, key_.sizes.own, problem.traits);
  if (specification != *problem.specification) plan.instead = specification;
  return plan;
}

/// Sizes by rank may sort ranks if all ranks know the same ones.
Order Planner::order_for(const CallProblem& problem) const {
  const Specification& spec = *problem.specification;
  const Collective collective = problem.collective();
  const bool takes_order = spec.algorithm->takes("order");
  if (takes_order && spec.needs_arrivals() && problem.arrivals == nullptr) {
    return Order::rotated(problem.p, problem.root);
  }
  const std::vector<Bytes>* sizes = nullptr;
  std::vector<Bytes> equal;
  if (takes_order && spec.order == OrderName::by_size) {
    const bool rooted = is_gather_or_scatter(collective);
    const bool by_rank = is_irregular(collective) && block_kind(collective) == BlockKind::ranks;
    const bool knows_all = knowledge_of(problem) == Knowledge::all_sizes ||
                           (problem.at_root() && knowledge_of(problem) == Knowledge::nothing);
    if (rooted && by_rank && !knows_all) {
      return Order::natural(problem.p, problem.root);  // a leaf of a linear shape
    }
    if (!by_rank) equal.assign(index(problem.p), key_.sizes.own);
    sizes = by_rank ? &key_.sizes.by_rank : &equal;
  }
  return order_of(spec, problem.p, problem.root, {sizes, problem.arrivals, problem.rank_order});
}

Sizes Planner::sizes_of(const CallProblem& problem, const Order& order) const {
  const Collective collective = problem.collective();
  const CallSizes& sizes = key_.sizes;
  if (block_kind(collective) == BlockKind::parts) {
    return Sizes::parts(sizes.each / problem.unit, problem.unit, 1);
  }
  if (!is_irregular(collective)) return Sizes::equal(sizes.each);
  if (is_gather_or_scatter(collective)) return sizes_known_to(problem, order);
  return block_kind(collective) == BlockKind::ranks
             ? Sizes::all(sizes.by_rank, order)
             : Sizes::pairs(sizes.sent, sizes.received, order, problem.rank);
}

/// The sizes of a gather or scatter of varying sizes that this rank knows.
Sizes Planner::sizes_known_to(const CallProblem& problem, const Order& order) const {
  const Knowledge knowledge = knowledge_of(problem);
  const bool counts_suffice =
      knowledge == Knowledge::nothing || knowledge == Knowledge::subtree_sizes;
  if (knowledge == Knowledge::all_sizes || (counts_suffice && problem.at_root())) {
    return Sizes::all(key_.sizes.by_rank, order);
  }
  const Position me = order.position_of(problem.rank);
  std::vector<Sizes::Known> known = {{{me, me + 1}, key_.sizes.own}};
  if (knowledge == Knowledge::subtree_sizes) {
    const Knomial tree(problem.p, problem.specification->parameters.k);
    std::size_t child = 0;
    for (const Position position : tree.children(me)) {
      known.push_back({tree.subtree(position), key_.known[child++]});
    }
  }
  return Sizes::some(std::move(known));
}

Growth Planner::growth_for(const CallProblem& problem) const {
  return growth_of(*problem.specification, problem.p, problem.root,
                   settings_.half_performance_length, problem.ready, settings_.staging);
}

/// The neighbours in the tree of a bcast or reduction by arrivals, in a grown tree, or in a
/// k-nomial one from which subtrees may be cut off; else none.
TreeNeighbours Planner::tree_of(const CallProblem& problem, const Problem& whole) const {
  const Specification& spec = *problem.specification;
  if (is_gather_or_scatter(whole.collective)) {
    if (spec.algorithm->staging != Staging::subtrees) return {};
    return grown_tree(problem, whole.order);
  }
  if (!spec.follows_arrivals()) return {};
  const std::vector<Bytes> at_once(index(problem.p), 0);
  return informed_tree(
      problem.ready ? *problem.ready : at_once, problem.root,
      settings_.half_performance_length + whole.vector_bytes())[index(problem.rank)];
}

TreeNeighbours Planner::grown_tree(const CallProblem& problem, const Order& order) const {
  const Growth growth = growth_for(problem);
  const bool is_fixed = is_fixed_tree(*problem.specification);
  const Position me = order.position_of(problem.rank);
  const auto in_ranks = [&](const TreeNeighbours& tree) {
    return is_fixed ? in_order(tree, order) : tree;
  };
  if (!is_irregular(problem.collective())) {
    if (is_fixed && key_.sizes.own * problem.p <= growth.heaviest()) return {};
    return in_ranks(OrderedTree(growth, key_.sizes.own).neighbours(me));
  }
  if (knowledge_of(problem) == Knowledge::all_sizes) {
    return in_ranks(OrderedTree(growth, by_position(key_.sizes.by_rank, order)).neighbours(me));
  }
  if (problem.at_root() || !is_fixed) return in_ranks(tree_);
  return in_ranks(
      fixed_position(growth, me, key_.sizes.own, {key_.known.begin(), key_.known.end()}));
}

}  // namespace tutti
