/// Tries heuristics and local searches.
#include "select/reordering.hpp"

#include <algorithm>

#include "core/order.hpp"
#include "orders/by_distance.hpp"
#include "orders/local_search.hpp"

namespace tutti {

namespace {

/// With more ranks, local searches start only from the natural order and the fastest other one.
constexpr int max_evaluations_of_all = 128;

/// True if each position sends only to the next one.
bool is_ring(const Traffic& traffic) {
  return traffic.rounds.size() == 1 &&
         std::ranges::all_of(traffic.rounds[0].messages, [&](const Traffic::Message& message) {
           return message.to == (message.from + 1) % traffic.p;
         });
}

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
    if (is_ring(traffic)) {
      add("without_slow_links", without_slow_links(distances, found.all[1].ranks, evaluations));
    }
    const auto greedy = found.all.size();
    std::ranges::stable_sort(found.all.begin() + 1, found.all.end(), {}, &CandidateOrder::seconds);
    for (std::size_t i = 0; i < (p > max_evaluations_of_all ? 2 : greedy); ++i) {
      add(found.all[i].name + " + swaps",
          local_search(found.all[i].ranks, traffic, fabric, anchor.fixed, evaluations));
    }
    std::ranges::stable_sort(found.all, {}, &CandidateOrder::seconds);
  }
  const bool helps = found.all[0].seconds < found.natural.seconds * (1 - 1e-9);
  found.best = helps ? found.all[0] : found.natural;
  return found;
}

}  // namespace tutti
