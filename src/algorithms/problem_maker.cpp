/// Orders from what ranks know, and the parts of a problem.
#include "algorithms/problem_maker.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "algorithms/staging.hpp"
#include "shapes/bine.hpp"
#include "shapes/informed.hpp"
#include "shapes/knomial.hpp"
#include "shapes/relay.hpp"
#include "shapes/sequences.hpp"

namespace tutti {

ReadyTimes ready_times(const Specification& specification, const std::vector<double>& arrivals,
                       double rate) {
  const bool counts = specification.parameters.arrivals || specification.follows_arrivals();
  if (!counts || arrivals.empty()) return nullptr;
  const double first = *std::ranges::min_element(arrivals);
  std::vector<Bytes> ready;
  for (const double arrival : arrivals) ready.push_back(std::llround((arrival - first) * rate));
  return std::make_shared<const std::vector<Bytes>>(std::move(ready));
}

namespace {

/// The positions below the root in the sequence in which they take ranks by expected arrival. With
/// late_leaf, a gather along a tree puts late ranks where their blocks have the shortest path. In
/// other shapes `arrival` makes late ranks leaves too, so both orders are equal.
std::vector<Position> receiving_sequence(const Specification& specification, int p) {
  const Algorithm& algorithm = *specification.algorithm;
  const int k = specification.parameters.k;
  if (algorithm.is_served_in_turn()) {
    std::vector<Position> in_turn(index(p - 1));
    std::iota(in_turn.begin(), in_turn.end(), 1);
    return in_turn;
  }
  if (algorithm.shape == Shape::relay) {
    return RelayTree(p, specification.parameters.late).sequence();
  }
  if (!flows_to_root(algorithm.collective) && algorithm.shape != Shape::gathering_tree) {
    return large_subtrees_first(p, k);
  }
  if (specification.order == OrderName::late_leaf) {
    const bool early = specification.runner == Runner::background;
    return long_ways_first(p, k, early ? Receives::early : Receives::on_arrival);
  }
  std::vector<Position> sequence = large_subtrees_first(p, k);
  std::ranges::reverse(sequence);
  return sequence;
}

/// The root comes first.
Order by_distance(const Specification& specification, Rank root, std::vector<Rank> ranks) {
  if (specification.turns_with_root()) {
    std::rotate(ranks.begin(), std::ranges::find(ranks, root), ranks.end());
  }
  assert(!has_root(specification.algorithm->collective) || ranks.front() == root);
  return Order::listed(std::move(ranks));
}

}  // namespace

Order order_of(const Specification& specification, int p, Rank root, const Expected& expected) {
  const Algorithm& algorithm = *specification.algorithm;
  const auto is_known = [](const auto* data) { return data != nullptr && !data->empty(); };
  if (!has_root(algorithm.collective) && is_known(expected.arrivals)) {
    const std::vector<double>& arrivals = *expected.arrivals;
    root = static_cast<Rank>(std::ranges::min_element(arrivals) - arrivals.begin());
  }
  if (!algorithm.takes("order")) {
    return algorithm.order == "bine" ? Order::rotated(p, (root + p - BineTree(p).root()) % p)
                                     : Order::identity(p);
  }
  switch (specification.order) {
    case OrderName::natural:
      return Order::natural(p, root);
    case OrderName::rotated:
      return Order::rotated(p, root);
    case OrderName::distance:
    case OrderName::cycle:
    case OrderName::nearest_next:
    case OrderName::two_partners_each:
    case OrderName::heaviest_first:
      if (!is_known(expected.rank_order)) return Order::rotated(p, root);
      return by_distance(specification, root, *expected.rank_order);
    case OrderName::arrival:
    case OrderName::late_leaf:
      if (!is_known(expected.arrivals)) return Order::rotated(p, root);
      return by_arrival(*expected.arrivals, root, receiving_sequence(specification, p));
    case OrderName::by_size:
      break;
  }
  // Pairs have no size that all ranks know.
  const bool vary =
      is_irregular(algorithm.collective) && block_kind(algorithm.collective) == BlockKind::ranks;
  if (vary && !is_known(expected.sizes)) return Order::natural(p, root);
  const Knomial tree(p, specification.parameters.k);
  const RelayTree relays(p, specification.parameters.late);
  const Depth depth = [&](Position v) {
    if (algorithm.is_served_in_turn()) return std::min(v, 1);
    return algorithm.shape == Shape::relay ? relays.depth(v) : tree.depth(v);
  };
  return by_size(vary ? *expected.sizes : std::vector<Bytes>(index(p), 0), root, depth);
}

namespace {

Growth growth_of(const Specification& specification, const KnownCall& known) {
  const Parameters& parameters = specification.parameters;
  if (!is_fixed_tree(specification)) {
    return {known.p,      known.root, parameters, known.half_performance_length,
            known.memory, known.ready};
  }
  return {.p = known.p,
          .root = 0,
          .parameters = {.rule = JoinRule::position, .promote = false, .ports = parameters.k - 1},
          .memory = known.memory};
}

/// `known`'s, unless that would stage too much. All ranks know the sizes for which it would.
Specification within_memory(const KnownCall& known, const CallSizes& sizes) {
  const Collective collective = known.specification.algorithm->collective;
  if (!is_gather_or_scatter(collective)) return known.specification;
  const bool is_known_to_all =
      !is_irregular(collective) || known.specification.knowledge() == Knowledge::all_sizes;
  return within(known.specification, known.p, is_known_to_all ? sizes.total(known.p) : 0,
                known.memory);
}

}  // namespace

ProblemMaker::ProblemMaker(const KnownCall& known, const CallSizes& sizes)
    : specification_(within_memory(known, sizes)),
      growth_(growth_of(specification_, known)),
      common_{.collective = specification_.algorithm->collective,
              .p = known.p,
              .root = known.root,
              .order = known.order,
              .parameters = specification_.parameters,
              .nodes = known.nodes} {
  const bool are_equal = !is_irregular(common_.collective);
  knows_sizes_ = are_equal || !sizes.by_rank.empty();
  if (block_kind(common_.collective) == BlockKind::parts) {
    common_.sizes = Sizes::parts(sizes.each / known.unit, known.unit, 1);
  } else if (knows_sizes_) {
    common_.sizes = are_equal ? Sizes::equal(sizes.each) : Sizes::all(sizes.by_rank, known.order);
  }
  if (specification_.follows_arrivals()) {
    const std::vector<Bytes> at_once(index(known.p), 0);
    informed_ = informed_tree(known.ready ? *known.ready : at_once, known.root,
                              known.half_performance_length + common_.vector_bytes());
  }
  if (!knows_sizes_ || specification_.algorithm->staging != Staging::subtrees) return;
  if (!are_equal) {
    tree_.emplace(growth_, by_position(sizes.by_rank, known.order));
  } else if (!is_fixed_tree(specification_) || sizes.each * known.p > growth_.heaviest()) {
    tree_.emplace(growth_, sizes.each);
  }
}

Problem ProblemMaker::at(Rank rank, const CallSizes& own, const Learned& learned) const {
  Problem problem = common_;
  problem.rank = rank;
  if (!knows_sizes_) problem.sizes = own_sizes(rank, own, learned);
  problem.tree = neighbours(rank, own, learned);
  return problem;
}

Sizes ProblemMaker::own_sizes(Rank rank, const CallSizes& own, const Learned& learned) const {
  if (block_kind(common_.collective) == BlockKind::pairs) {
    return Sizes::pairs(own.sent, own.received, order(), rank);
  }
  const Position me = order().position_of(rank);
  std::vector<Sizes::Known> known = {{{me, me + 1}, own.own}};
  if (specification_.knowledge() == Knowledge::subtree_sizes) {
    const Knomial tree(common_.p, specification_.parameters.k);
    std::size_t child = 0;
    for (const Position position : tree.children(me)) {
      known.push_back({tree.subtree(position), learned.subtrees[child++]});
    }
  }
  return Sizes::some(std::move(known));
}

/// The neighbours in the tree of a bcast by arrivals, in a grown tree, or in a k-nomial one from
/// which subtrees may be cut off; else none.
TreeNeighbours ProblemMaker::neighbours(Rank rank, const CallSizes& own,
                                        const Learned& learned) const {
  if (!informed_.empty()) return informed_[index(rank)];
  const bool is_fixed = is_fixed_tree(specification_);
  if (knows_sizes_ && !tree_) return {};
  const Position me = order().position_of(rank);
  const TreeNeighbours found = tree_      ? tree_->neighbours(me)
                               : is_fixed ? fixed_position(growth_, me, own.own, learned.subtrees)
                                          : learned.tree;
  return is_fixed ? in_order(found, order()) : found;
}

}  // namespace tutti
