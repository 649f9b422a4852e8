/// Names of orders, and orders by sorting.
#include "orders/orders.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti {

namespace {

constexpr std::array<std::string_view, 9> names = {
    "natural",  "rotated",      "by_size",           "arrival",       "late_leaf",
    "distance", "nearest_next", "two_partners_each", "heaviest_first"};

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

}  // namespace tutti
