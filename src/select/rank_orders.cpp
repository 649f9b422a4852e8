/// Tries heuristics and local searches: for each class of block sizes, and for several shapes at
/// once.
#include "select/rank_orders.hpp"

#include <algorithm>
#include <limits>

#include "core/order.hpp"
#include "cost/traffic.hpp"
#include "orders/orders.hpp"

namespace tutti {

namespace {

/// With more ranks, local searches start only from the natural order and the fastest other one.
constexpr int max_ranks_of_all_searches = 128;

/// True if in some round each position sends to the next one, except perhaps the last.
bool goes_around(const Traffic& traffic) {
  const auto is_to_next = [&](const Traffic::Message& message) {
    return message.to == (message.from + 1) % traffic.p;
  };
  return std::ranges::any_of(traffic.rounds, [&](const Traffic::Round& round) {
    return round.messages.size() + 1 >= index(traffic.p) &&
           std::ranges::all_of(round.messages, is_to_next);
  });
}

/// The budget of link times for each local search.
constexpr long max_evaluations = 1'000'000;

constexpr double rounding = 1e-9;

/// The relative error of measurements; an order with a smaller gain follows their noise.
constexpr double min_gain = 1.05;

/// The maximum loss of an order in one shape if it gains more in others.
constexpr double max_loss = 1.01;

const CandidateOrder& chosen(const Reordering& found, OrderName order) {
  if (order == OrderName::distance || order == OrderName::cycle) {
    return found.gain() < min_gain ? found.natural : found.best;
  }
  const auto named = std::ranges::find(found.all, name_of(order), &CandidateOrder::name);
  return named == found.all.end() ? found.natural : *named;
}

constexpr Bytes large = RankOrders::blocks.back();

/// The shapes of a program's usual calls.
std::vector<Traffic> shapes_of(std::optional<Collective> collective, int p) {
  std::vector<Collective> collectives = {Collective::allgather, Collective::bcast,
                                         Collective::gather, Collective::scatter};
  if (collective) collectives = {*collective};
  std::vector<Traffic> shapes;
  for (const Collective one : collectives) {
    const std::pair<const char*, Bytes> usual[] = {{"small", RankOrders::blocks.front()},
                                                   {"large", large}};
    for (const auto& [role, block] : usual) {
      const auto known = specification_for(one, role);
      if (known) shapes.push_back(traffic_of(*known, p, block));
    }
  }
  return shapes;
}

/// The predicted gain from which an order by distance is explored.
constexpr double min_gain_of_exploration = 1.25;

}  // namespace

Reordering reordered(const Traffic& traffic, const Fabric& fabric, Bytes block, Anchor anchor,
                     long evaluations) {
  const int p = traffic.p;
  Reordering found;
  const auto add = [&](std::string name, std::vector<Rank> ranks) {
    const double seconds = rounds_seconds(traffic, fabric, ranks);
    found.all.push_back({std::move(name), std::move(ranks), seconds});
  };
  add("natural", Order::natural(p, anchor.first).ranks());
  found.natural = found.all[0];
  if (p > 2) {
    const Distances distances = fabric.links.at(block);
    add("nearest_next", nearest_next(distances, anchor.first));
    add("two_partners_each", two_partners_each(distances, traffic, anchor.first));
    add("heaviest_first", heaviest_first(distances, traffic, anchor.first));
    if (goes_around(traffic)) {
      add("without_slow_links", without_slow_links(distances, found.all[1].ranks, evaluations));
    }
    const auto greedy = found.all.size();
    std::ranges::stable_sort(found.all.begin() + 1, found.all.end(), {}, &CandidateOrder::seconds);
    for (std::size_t i = 0; i < (p > max_ranks_of_all_searches ? 2 : greedy); ++i) {
      add(found.all[i].name + " + swaps",
          local_search(found.all[i].ranks, traffic, fabric, anchor.fixed, evaluations));
    }
    std::ranges::stable_sort(found.all, {}, &CandidateOrder::seconds);
  }
  const bool helps = found.all[0].seconds < found.natural.seconds * (1 - rounding);
  found.best = helps ? found.all[0] : found.natural;
  return found;
}

std::vector<Specification> gaining_by_distance(
    std::span<const Specification> candidates, Bytes block, const Fabric& fabric,
    const std::function<const RankOrders&(const Specification&)>& find) {
  if (candidates.empty()) return {};
  const int p = fabric.size();
  const Collective collective = candidates[0].algorithm->collective;
  const auto order = index(RankOrders::class_of(collective, block));
  const std::vector<Rank> natural = Order::identity(p).ranks();
  double native = std::numeric_limits<double>::infinity();
  std::vector<std::pair<double, Specification>> reordered;
  for (const Specification& candidate : candidates) {
    const Traffic traffic = traffic_of(candidate, p, block, Roots::between);
    native = std::min(native, rounds_seconds(traffic, fabric, natural));
    reordered.emplace_back(rounds_seconds(traffic, fabric, find(candidate).of_class[order]),
                           candidate);
  }
  for (const char* role : {"small", "large"}) {
    auto usual = specification_for(collective, role);
    if (!usual) continue;
    const auto same = std::ranges::find(candidates, usual->algorithm, &Specification::algorithm);
    if (same != candidates.end()) continue;  // counted above
    usual->order = candidates[0].order;      // by as many roots
    native = std::min(
        native, rounds_seconds(traffic_of(*usual, p, block, Roots::between), fabric, natural));
  }
  std::ranges::stable_sort(reordered, {}, [](const auto& one) { return one.first; });
  std::vector<Specification> gaining;
  for (const auto& [seconds, candidate] : reordered) {
    if (seconds * min_gain_of_exploration < native) gaining.push_back(candidate);
  }
  return gaining;
}

Anchor anchor_of(const Specification& specification, Rank root) {
  if (specification.turns_with_root()) return {0, false};
  return {root, has_root(specification.algorithm->collective)};
}

RankOrders rank_orders_of(const Specification& specification, const Fabric& fabric, Rank root) {
  const auto order_for = [&](Bytes block) {
    const Reordering found = reordered(traffic_of(specification, fabric.size(), block), fabric,
                                       block, anchor_of(specification, root), max_evaluations);
    return chosen(found, specification.order).ranks;
  };
  RankOrders orders;
  if (RankOrders::has_classes(specification.algorithm->collective)) {
    std::ranges::transform(RankOrders::blocks, orders.of_class.begin(), order_for);
  } else {
    orders.of_class.fill(order_for(RankOrders::blocks[RankOrders::any_class]));
  }
  return orders;
}

std::vector<Rank> order_for_all(std::optional<Collective> collective, const Fabric& fabric) {
  const std::vector<Traffic> shapes = shapes_of(collective, fabric.size());
  const std::vector<Rank> natural = Order::identity(fabric.size()).ranks();
  std::vector<Rank> best = natural;
  std::vector<double> of_natural;
  for (const Traffic& shape : shapes) of_natural.push_back(rounds_seconds(shape, fabric, natural));
  auto least = static_cast<double>(shapes.size()) * (1 - rounding);
  const auto weigh = [&](const std::vector<Rank>& ranks) {
    double sum = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const double seconds = rounds_seconds(shapes[i], fabric, ranks);
      if (seconds > of_natural[i] * max_loss) return;
      sum += of_natural[i] > 0 ? seconds / of_natural[i] : 1;
    }
    if (sum >= least) return;
    least = sum;
    best = ranks;
  };
  for (const Traffic& shape : shapes) {
    const Reordering found = reordered(shape, fabric, large, {0, true}, max_evaluations);
    for (const CandidateOrder& candidate : found.all) weigh(candidate.ranks);
  }
  return best;
}

}  // namespace tutti
