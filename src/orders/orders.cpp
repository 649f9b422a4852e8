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

/// All ranks except the root, sorted by `before`, ties by rank.
template <class Before>
std::vector<Rank> others_sorted(int p, Rank root, Before before) {
  std::vector<Rank> ranks(index(p));
  std::iota(ranks.begin(), ranks.end(), 0);
  ranks.erase(ranks.begin() + root);
  std::stable_sort(ranks.begin(), ranks.end(), before);
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
  const auto size = [&](Rank rank) { return by_rank[index(rank)]; };
  const auto ranks = others_sorted(p, root, [&](Rank a, Rank b) { return size(a) > size(b); });
  std::vector<Position> sequence(ranks.size());
  std::iota(sequence.begin(), sequence.end(), 1);
  std::stable_sort(sequence.begin(), sequence.end(),
                   [&](Position a, Position b) { return depth(a) < depth(b); });
  return seat(root, ranks, sequence);
}

Order by_arrival(const std::vector<double>& arrivals, Rank root,
                 const std::vector<Position>& sequence) {
  const auto at = [&](Rank rank) { return arrivals[index(rank)]; };
  const auto ranks = others_sorted(static_cast<int>(arrivals.size()), root,
                                   [&](Rank a, Rank b) { return at(a) < at(b); });
  return seat(root, ranks, sequence);
}

}  // namespace tutti
