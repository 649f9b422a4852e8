/// Names of orders, orders by sorting, and greedy orders by distance.
#include "orders/orders.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

constexpr std::array<std::string_view, 10> names = {
    "natural",  "rotated", "by_size",      "arrival",           "late_leaf",
    "distance", "cycle",   "nearest_next", "two_partners_each", "heaviest_first"};

/// All ranks except the root, sorted by `key`, ties by rank.
template <class Key>
std::vector<Rank> others_sorted(int p, Rank root, Key key) {
  std::vector<Rank> ranks(index(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  ranks.erase(ranks.begin() + root);
  std::ranges::stable_sort(ranks, {}, key);
  return ranks;
}

/// The order with the root at position 0 and ranks[j] at position sequence[j].
Order seat(Rank root, const std::vector<Rank>& ranks, const std::vector<Position>& sequence) {
  std::vector<Rank> at(ranks.size() + 1, root);
  for (std::size_t j = 0; j < ranks.size(); ++j) at[index(sequence[j])] = ranks[j];
  return Order::listed(std::move(at));
}

/// An order under construction: positions with ranks, and the ranks that are free.
class GreedyOrder {
 public:
  GreedyOrder(const Distances& distances, Rank first)
      : distances_(distances),
        rank_at_(index(distances.size()), no_rank),
        free_(index(distances.size())) {
    std::iota(free_.begin(), free_.end(), 0);
    take(0, free_.begin() + first);
  }

  [[nodiscard]] bool any_free() const { return !free_.empty(); }
  [[nodiscard]] bool has_rank(Position position) const {
    return rank_at_[index(position)] != no_rank;
  }

  /// Assigns to `position` the free rank nearest to the rank at `near`, by the distance from that
  /// rank (`from_near`) or to it. O(p).
  void take_nearest(Position position, Position near, bool from_near) {
    const Rank other = rank_at_[index(near)];
    const auto distance = [&](Rank rank) {
      return from_near ? distances_(other, rank) : distances_(rank, other);
    };
    take(position, std::ranges::min_element(free_, {}, distance));
  }

  /// Assigns to the first position without a rank the free rank nearest to the rank at 0. O(p).
  Position take_first() {
    const auto first = std::ranges::find(rank_at_, no_rank);
    const auto position = static_cast<Position>(first - rank_at_.begin());
    take_nearest(position, 0, true);
    return position;
  }

  [[nodiscard]] std::vector<Rank> done() {
    assert(!any_free());
    return std::move(rank_at_);
  }

 private:
  void take(Position position, std::vector<Rank>::iterator rank) {
    rank_at_[index(position)] = *rank;
    free_.erase(rank);
  }

  const Distances& distances_;
  std::vector<Rank> rank_at_;
  std::vector<Rank> free_;  ///< ascending
};

/// A message as its sender or receiver sees it.
struct Edge {
  Bytes bytes = 0;
  int round = 0;
  Position other = 0;
  bool sends = false;
};

/// The edges of each position, heaviest first, ties by latest round.
std::vector<std::vector<Edge>> edges_of(const Traffic& traffic) {
  std::vector<std::vector<Edge>> edges(index(traffic.p));
  for (std::size_t round = 0; round < traffic.rounds.size(); ++round) {
    for (const Traffic::Message& message : traffic.rounds[round].messages) {
      const auto [from, to, bytes] = message;
      edges[index(from)].push_back({bytes, static_cast<int>(round), to, true});
      edges[index(to)].push_back({bytes, static_cast<int>(round), from, false});
    }
  }
  for (std::vector<Edge>& own : edges) {
    std::ranges::stable_sort(own, std::greater<>(),
                             [](const Edge& edge) { return std::pair(edge.bytes, edge.round); });
  }
  return edges;
}

}  // namespace

std::string_view name_of(OrderName order) { return names[static_cast<std::size_t>(order)]; }

Order by_size(const std::vector<Bytes>& by_rank, Rank root, const Depth& depth) {
  const int p = static_cast<int>(by_rank.size());
  const auto ranks = others_sorted(p, root, [&](Rank rank) { return -by_rank[index(rank)]; });
  std::vector<Position> sequence(ranks.size());
  std::iota(sequence.begin(), sequence.end(), 1);
  std::ranges::stable_sort(sequence, {}, depth);
  return seat(root, ranks, sequence);
}

Order by_arrival(const std::vector<double>& arrivals, Rank root,
                 const std::vector<Position>& sequence) {
  const auto ranks = others_sorted(static_cast<int>(arrivals.size()), root,
                                   [&](Rank rank) { return arrivals[index(rank)]; });
  return seat(root, ranks, sequence);
}

std::vector<Rank> nearest_next(const Distances& distances, Rank first) {
  GreedyOrder order(distances, first);
  for (Position v = 1; v < distances.size(); ++v) order.take_nearest(v, v - 1, true);
  return order.done();
}

std::vector<Rank> two_partners_each(const Distances& distances, const Traffic& traffic,
                                    Rank first) {
  const auto edges = edges_of(traffic);
  GreedyOrder order(distances, first);
  std::vector<Position> references = {0};
  while (order.any_free()) {
    if (references.empty()) references.push_back(order.take_first());
    const Position reference = references.back();
    int assigned = 0;
    for (const Edge& edge : edges[index(reference)]) {
      if (assigned == 2 || order.has_rank(edge.other)) continue;
      order.take_nearest(edge.other, reference, edge.sends);
      references.push_back(edge.other);
      ++assigned;
    }
    if (assigned == 0) references.pop_back();
  }
  return order.done();
}

std::vector<Rank> heaviest_first(const Distances& distances, const Traffic& traffic, Rank first) {
  // Bytes, round, negated sequence number, both positions, direction.
  using Waiting = std::tuple<Bytes, int, long, Position, Position, bool>;
  const auto edges = edges_of(traffic);
  std::priority_queue<Waiting> waiting;
  GreedyOrder order(distances, first);
  long seen = 0;
  const auto note = [&](Position v) {
    for (const Edge& edge : edges[index(v)]) {
      if (!order.has_rank(edge.other)) {
        waiting.push({edge.bytes, edge.round, --seen, v, edge.other, edge.sends});
      }
    }
  };
  note(0);
  while (order.any_free()) {
    if (waiting.empty()) {
      note(order.take_first());
      continue;
    }
    const auto [bytes, round, sequence, near, position, sends] = waiting.top();
    waiting.pop();
    if (order.has_rank(position)) continue;
    order.take_nearest(position, near, sends);
    note(position);
  }
  return order.done();
}

}  // namespace tutti
