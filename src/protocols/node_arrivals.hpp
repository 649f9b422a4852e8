/// Arrivals of nodes, for collectives between nodes.
#pragma once

#include <vector>

#include "core/nodes.hpp"
#include "protocols/arrival_agreement.hpp"

namespace tutti {

/// The arrival of each node: that of its last rank. Empty if `arrivals` is. O(p).
[[nodiscard]] std::vector<double> node_arrivals(const std::vector<double>& arrivals,
                                                const Nodes& nodes);

/// The epoch for calls between nodes: nodes take the place of ranks. O(p + n log n) for n nodes.
[[nodiscard]] ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes);

}  // namespace tutti
