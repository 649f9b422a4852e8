/// Central knowledge.
#include "algorithms/problems.hpp"

#include <algorithm>
#include <cmath>

#include "shapes/knomial.hpp"
#include "shapes/relay.hpp"
#include "shapes/sequences.hpp"

namespace tutti {

Growth growth_of(const Specification& specification, int p, Rank root, Bytes latency,
                 ReadyTimes ready) {
  return {p, root, specification.parameters, latency, std::move(ready)};
}

ReadyTimes ready_times(const Specification& specification, const std::vector<double>& arrivals,
                       double rate) {
  if (!specification.parameters.arrivals || arrivals.empty()) return nullptr;
  const double first = *std::min_element(arrivals.begin(), arrivals.end());
  std::vector<Bytes> ready;
  for (const double arrival : arrivals) ready.push_back(std::llround((arrival - first) * rate));
  return std::make_shared<const std::vector<Bytes>>(std::move(ready));
}

std::vector<Position> receiving_sequence(const Specification& specification, int p) {
  const Algorithm& algorithm = *specification.algorithm;
  const int k = specification.parameters.k;
  if (algorithm.name.starts_with("linear")) return as_the_root_serves(p);
  if (algorithm.name == "relay") return RelayTree(p, specification.parameters.late).sequence();
  if (!is_gather(algorithm.collective)) return large_subtrees_first(p, k);
  if (specification.order == OrderName::late_leaf) {
    const bool early = specification.runner == Runner::background;
    return long_ways_first(p, k, early ? Receives::early : Receives::on_arrival);
  }
  std::vector<Position> sequence = large_subtrees_first(p, k);
  std::reverse(sequence.begin(), sequence.end());
  return sequence;
}

Order order_of(const Specification& specification, int p, Rank root, const Expected& expected) {
  const Algorithm& algorithm = *specification.algorithm;
  if (!algorithm.takes("order")) return Order::identity(p);
  const bool linear = algorithm.name.starts_with("linear");
  switch (specification.order) {
    case OrderName::natural:
      return Order::natural(p, root);
    case OrderName::rotated:
      return Order::rotated(p, root);
    case OrderName::by_size:
      break;
    case OrderName::arrival:
    case OrderName::late_leaf: {
      const bool all_at_once = expected.arrivals == nullptr || expected.arrivals->empty();
      return by_arrival(
          all_at_once ? std::vector<double>(static_cast<std::size_t>(p), 0) : *expected.arrivals,
          root, receiving_sequence(specification, p));
    }
  }
  const Knomial tree(p, specification.parameters.k);
  const RelayTree relays(p, specification.parameters.late);
  const Depth depth = [&](Position v) {
    return linear ? std::min(v, 1) : algorithm.name == "relay" ? relays.depth(v) : tree.depth(v);
  };
  return by_size(*expected.sizes, root, depth);
}

Problems::Problems(const Specification& specification, const Call& call)
    : specification_(specification),
      call_(call),
      equal_(!is_irregular(call.collective)),
      order_(order_of(specification, call.p(), call.root, {&call.sizes, &call.arrivals})),
      sizes_(equal_ ? Sizes::equal(call.sizes[0]) : Sizes::all(call.sizes, order_)) {
  if (specification.algorithm->name != "ordered_tree") return;
  const Growth growth = growth_of(specification, call.p(), call.root, call.latency,
                                  ready_times(specification, call.arrivals, call.rate));
  tree_ = equal_ ? OrderedTree(growth, call.sizes[0]) : OrderedTree(growth, call.sizes);
  neighbours_ = tree_->all_neighbours();
}

Sizes Problems::known_sizes(Rank rank) const {
  const Knowledge knowledge = specification_.knowledge();
  if (equal_ || rank == call_.root || knowledge == Knowledge::all_sizes) return sizes_;
  const Position me = order_.position_of(rank);
  const BlockRange own = {me, me + 1};
  std::vector<Sizes::Known> known = {{own, sizes_.of(own)}};
  if (knowledge == Knowledge::subtree_sizes) {
    const Knomial tree(call_.p(), specification_.parameters.k);
    for (const Position child : tree.children(me)) {
      const BlockRange blocks = tree.subtree(child);
      known.push_back({blocks, sizes_.of(blocks)});
    }
  }
  return Sizes::some(std::move(known));
}

Problem Problems::at(Rank rank) const {
  Problem problem;
  problem.collective = call_.collective;
  problem.p = call_.p();
  problem.rank = rank;
  problem.root = call_.root;
  problem.order = order_;
  problem.sizes = known_sizes(rank);
  problem.parameters = specification_.parameters;
  if (tree_) problem.tree = neighbours_[static_cast<std::size_t>(rank)];
  return problem;
}

Schedule Problems::schedule(Rank rank) const { return schedule_of(specification_, at(rank)); }

std::vector<Schedule> Problems::schedules() const {
  std::vector<Schedule> all;
  all.reserve(static_cast<std::size_t>(call_.p()));
  for (Rank rank = 0; rank < call_.p(); ++rank) all.push_back(schedule(rank));
  return all;
}

}  // namespace tutti
