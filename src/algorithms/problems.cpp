/// Builds all ranks' problems from global data.
#include "algorithms/problems.hpp"

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

namespace {

/// The whole vector of a call as one part.
Sizes vector_of(const Call& call) { return Sizes::parts(call.sizes[0] / call.unit, call.unit, 1); }

}  // namespace

Bytes Call::pair(Rank from, Rank to) const {
  const auto ranks = sizes.size();
  const auto s = index(from);
  const auto d = index(to);
  return pairs.empty() ? sizes[(s + d) % ranks] : pairs[s * ranks + d];
}

std::vector<Bytes> Call::block_sizes(int parts) const {
  std::vector<Bytes> all;
  switch (block_kind(collective)) {
    case BlockKind::ranks:
      return sizes;
    case BlockKind::pairs:
      for (Rank from = 0; from < p(); ++from) {
        for (Rank to = 0; to < p(); ++to) all.push_back(pair(from, to));
      }
      break;
    case BlockKind::parts: {
      const Sizes cut = vector_of(*this).cut(parts);
      for (int part = 0; part < parts; ++part) all.push_back(cut.of({part, part + 1}));
      break;
    }
    case BlockKind::none:
      break;
  }
  return all;
}

Growth growth_of(const Specification& specification, int p, Rank root,
                 Bytes half_performance_length, ReadyTimes ready, Bytes memory) {
  const Parameters& parameters = specification.parameters;
  if (!is_fixed_tree(specification)) {
    return {p, root, parameters, half_performance_length, memory, std::move(ready)};
  }
  return {.p = p,
          .root = 0,
          .parameters = {.rule = JoinRule::position, .promote = false, .ports = parameters.k - 1},
          .memory = memory};
}

Growth growth_of(const Specification& specification, const Call& call) {
  return growth_of(specification, call.p(), call.root, call.half_performance_length,
                   ready_times(specification, call.arrivals, call.rate), call.memory);
}

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
  const bool all_at_once = expected.arrivals == nullptr || expected.arrivals->empty();
  if (!has_root(algorithm.collective) && !all_at_once) {
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
      if (expected.rank_order == nullptr || expected.rank_order->empty())
        return Order::rotated(p, root);
      return by_distance(specification, root, *expected.rank_order);
    case OrderName::by_size:
      break;
    case OrderName::arrival:
    case OrderName::late_leaf:
      return by_arrival(all_at_once ? std::vector<double>(index(p), 0) : *expected.arrivals, root,
                        receiving_sequence(specification, p));
  }
  const Knomial tree(p, specification.parameters.k);
  const RelayTree relays(p, specification.parameters.late);
  const Depth depth = [&](Position v) {
    if (algorithm.is_served_in_turn()) return std::min(v, 1);
    return algorithm.shape == Shape::relay ? relays.depth(v) : tree.depth(v);
  };
  return by_size(*expected.sizes, root, depth);
}

namespace {

/// The order that the root has, as Planner::order_for. Pairs have no size that all ranks know.
Order order_of(const Specification& specification, const Call& call) {
  const std::vector<Bytes> equal(call.sizes.size(), 0);
  const bool is_of_pairs = block_kind(call.collective) == BlockKind::pairs;
  return order_of(specification, call.p(), call.root,
                  {is_of_pairs ? &equal : &call.sizes, &call.arrivals, &call.rank_order});
}

/// The order that other ranks have. In a linear shape they need not know the data that the order
/// depends on.
Order order_of_others(const Specification& specification, const Call& call, const Order& order) {
  const bool is_needed = !has_root(call.collective) || is_one_sided(call.collective) ||
                         specification.order_matters_everywhere();
  if (is_needed) return order;
  if (specification.needs_arrivals()) return Order::rotated(call.p(), call.root);
  const bool is_known = !is_irregular(call.collective) || specification.order != OrderName::by_size;
  return is_known ? order : Order::natural(call.p(), call.root);
}

}  // namespace

Problems::Problems(const Specification& specification, const Call& call)
    : specification_(specification),
      call_(call),
      equal_(!is_irregular(call.collective)),
      order_(order_of(specification, call)),
      order_of_others_(order_of_others(specification, call, order_)),
      sizes_(block_kind(call.collective) == BlockKind::parts ? vector_of(call)
             : equal_                                        ? Sizes::equal(call.sizes[0])
                                                             : Sizes::all(call.sizes, order_)) {
  if (specification.follows_arrivals()) {
    const ReadyTimes ready = ready_times(specification, call.arrivals, call.rate);
    const std::vector<Bytes> at_once(call.sizes.size(), 0);
    informed_ = informed_tree(ready ? *ready : at_once, call.root,
                              call.half_performance_length + call.sizes[0]);
  }
  if (is_gather_or_scatter(call.collective)) {
    const Bytes all = std::accumulate(call.sizes.begin(), call.sizes.end(), Bytes{0});
    specification_ = within(specification, call.p(), all, call.memory);
  }
  if (specification.algorithm->staging == Staging::subtrees) grow();
}

/// As Planner::tree_of.
void Problems::grow() {
  const Growth growth = growth_of(specification_, call_);
  const bool is_fixed = is_fixed_tree(specification_);
  if (is_fixed && equal_ && call_.sizes[0] * call_.p() <= growth.heaviest()) return;
  tree_ = equal_ ? OrderedTree(growth, call_.sizes[0])
                 : OrderedTree(growth, by_position(call_.sizes, order_));
}

TreeNeighbours Problems::neighbours(Rank rank) const {
  if (!informed_.empty()) return informed_[index(rank)];
  if (!tree_) return {};
  const TreeNeighbours found = tree_->neighbours(order_.position_of(rank));
  return is_fixed_tree(specification_) ? in_order(found, order_) : found;
}

Sizes Problems::known_sizes(Rank rank, const Order& order) const {
  const Knowledge knowledge = specification_.knowledge();
  if (block_kind(call_.collective) == BlockKind::pairs && !equal_) return pair_sizes(rank);
  // Without a root, every rank has all sizes as arguments.
  const bool has_all = equal_ || rank == call_.root || !has_root(call_.collective);
  if (has_all || knowledge == Knowledge::all_sizes) return sizes_;
  const Position me = order.position_of(rank);
  std::vector<Sizes::Known> known = {{{me, me + 1}, call_.sizes[index(rank)]}};
  if (knowledge == Knowledge::subtree_sizes) {
    const Knomial tree(call_.p(), specification_.parameters.k);
    for (const Position child : tree.children(me)) {
      // Heavy subtrees below it do not pass through a child.
      known.push_back({tree.subtree(child), tree_->neighbours(child).self.bytes});
    }
  }
  return Sizes::some(std::move(known));
}

Sizes Problems::pair_sizes(Rank rank) const {
  std::vector<Bytes> sent;
  std::vector<Bytes> received;
  for (Rank other = 0; other < call_.p(); ++other) {
    sent.push_back(call_.pair(rank, other));
    received.push_back(call_.pair(other, rank));
  }
  return Sizes::pairs(sent, received, order_, rank);
}

Problem Problems::at(Rank rank) const {
  Problem problem;
  problem.collective = call_.collective;
  problem.p = call_.p();
  problem.rank = rank;
  problem.root = call_.root;
  problem.order = rank == call_.root ? order_ : order_of_others_;
  problem.sizes = known_sizes(rank, problem.order);
  problem.parameters = specification_.parameters;
  problem.nodes = call_.nodes.get();
  problem.tree = neighbours(rank);
  return problem;
}

Schedule Problems::schedule(Rank rank) const { return schedule_of(specification_, at(rank)); }

std::vector<Schedule> Problems::schedules() const {
  std::vector<Schedule> all;
  all.reserve(index(call_.p()));
  for (Rank rank = 0; rank < call_.p(); ++rank) all.push_back(schedule(rank));
  return all;
}

}  // namespace tutti
