/// Rank orders for each class of block sizes, and for several shapes at once.
#include "select/rank_orders.hpp"

#include <algorithm>
#include <limits>

#include "core/order.hpp"
#include "cost/traffic.hpp"
#include "orders/local_search.hpp"

namespace tutti {

namespace {

/// The budget of link times for each local search.
constexpr long max_evaluations = 1'000'000;

constexpr double rounding = 1e-9;

/// The relative error of measurements; an order with a smaller gain follows their noise.
constexpr double min_gain = 1.05;

/// The maximum loss of an order in one shape if it gains more in others.
constexpr double max_loss = 1.01;

const CandidateOrder& chosen(const Reordering& found, OrderName order) {
  if (order == OrderName::distance) {
    return found.gain() < min_gain ? found.natural : found.best;
  }
  const auto named = std::ranges::find(found.all, name_of(order), &CandidateOrder::name);
  return named == found.all.end() ? found.natural : *named;
}

constexpr Bytes small = RankOrders::blocks.front();
constexpr Bytes large = RankOrders::blocks.back();

struct Usual {
  const char* algorithm;
  Bytes block;
};

/// The usual algorithms of MPI libraries for a collective, for small and for large blocks.
std::vector<Usual> usual_algorithms(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::allreduce:
      return {{"recursive_doubling", small}, {"ring", large}};
    case Collective::alltoall:
    case Collective::alltoallv:
      return {{"pairwise", small}, {"pairwise", large}};
    case Collective::barrier:
      return {{"dissemination", small}};
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
      return {{"recursive_halving", small}, {"recursive_halving", large}};
    default:
      break;
  }
  if (is_scan(collective)) return {{"recursive_doubling", small}, {"linear", large}};
  return {{"binomial", small}, {"binomial", large}};
}

/// The shapes of a program's usual calls.
std::vector<Traffic> shapes_of(std::optional<Collective> collective, int p) {
  std::vector<Collective> collectives = {Collective::allgather, Collective::bcast,
                                         Collective::gather, Collective::scatter};
  if (collective) collectives = {*collective};
  std::vector<Traffic> shapes;
  for (const Collective one : collectives) {
    for (const auto& [algorithm, block] : usual_algorithms(one)) {
      shapes.push_back(traffic_of(*specification(one, algorithm), p, block));
    }
  }
  return shapes;
}

/// The predicted gain from which an order by distance is explored.
constexpr double min_gain_of_exploration = 1.25;

/// Algorithms whose time depends on the rank order. MPI libraries use them too.
std::vector<const char*> by_distance(Collective collective) {
  switch (collective) {
    case Collective::bcast:
      return {"binomial:order=distance", "scatter_allgather:order=distance"};
    case Collective::allgather:
    case Collective::allgatherv:
      return {"recursive_doubling:order=distance", "ring:order=distance"};
    default:
      return {};
  }
}

}  // namespace

std::optional<Specification> gaining_by_distance(
    Collective collective, Bytes block, const Fabric& fabric, Rank root,
    const std::function<const RankOrders&(const Specification&)>& find) {
  const int p = fabric.size();
  double native = std::numeric_limits<double>::infinity();
  double least = native;
  std::optional<Specification> best;
  for (const char* text : by_distance(collective)) {
    const Specification candidate = *specification(collective, text);
    const Traffic traffic = traffic_of(candidate, p, block);
    native = std::min(native, rounds_seconds(traffic, fabric, Order::natural(p, root).ranks()));
    const double reordered_seconds = rounds_seconds(traffic, fabric, find(candidate).of(block));
    if (reordered_seconds < least) best = candidate;
    least = std::min(least, reordered_seconds);
  }
  return least * min_gain_of_exploration < native ? best : std::nullopt;
}

RankOrders rank_orders_of(const Specification& specification, const Fabric& fabric, Rank root) {
  std::array<std::vector<Rank>, RankOrders::blocks.size()> ranks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Bytes block = RankOrders::blocks[i];
    const Reordering found =
        reordered(traffic_of(specification, fabric.size(), block), fabric, block,
                  {root, has_root(specification.algorithm->collective)}, max_evaluations);
    ranks[i] = chosen(found, specification.order).ranks;
  }
  return RankOrders(std::move(ranks));
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
