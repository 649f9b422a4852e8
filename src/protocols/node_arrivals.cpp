/// A node arrives with its last rank.
#include "protocols/node_arrivals.hpp"

#include <algorithm>

namespace tutti {

ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes) {
  ArrivalEpoch between;
  between.number = epoch.number;
  const auto arrival = [&](Rank rank) { return epoch.arrivals[index(rank)]; };
  for (int node = 0; node < nodes.count() && !epoch.arrivals.empty(); ++node) {
    between.arrivals.push_back(arrival(*std::ranges::max_element(nodes.ranks(node), {}, arrival)));
  }
  between.ranking = ranking_of(between.arrivals);
  return between;
}

}  // namespace tutti
