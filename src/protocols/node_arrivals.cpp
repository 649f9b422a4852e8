/// A node arrives with its last rank.
#include "protocols/node_arrivals.hpp"

#include <algorithm>

namespace tutti {

std::vector<double> node_arrivals(const std::vector<double>& arrivals, const Nodes& nodes) {
  std::vector<double> last;
  const auto arrival = [&](Rank rank) { return arrivals[index(rank)]; };
  for (int node = 0; node < nodes.count() && !arrivals.empty(); ++node) {
    double latest = arrival(nodes.rank_at(node, 0));
    for (const Rank rank : nodes.ranks(node)) latest = std::max(latest, arrival(rank));
    last.push_back(latest);
  }
  return last;
}

ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes) {
  ArrivalEpoch between;
  between.number = epoch.number;
  between.arrivals = node_arrivals(epoch.arrivals, nodes);
  between.ranking = ranking_of(between.arrivals);
  return between;
}

}  // namespace tutti
