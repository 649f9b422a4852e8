/// When nodes are complete, for what runs between them.
#pragma once

#include <vector>

#include "core/nodes.hpp"
#include "protocols/arrival_agreement.hpp"

namespace tutti {

/// When each node is there: with its last rank. Empty where nothing is known. O(p).
[[nodiscard]] std::vector<double> node_arrivals(const std::vector<double>& arrivals,
                                                const Nodes& nodes);

/// The epoch as calls between nodes go by it: nodes are its ranks. O(p + n log n) for n nodes.
[[nodiscard]] ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes);

}  // namespace tutti
