/// Arrivals of nodes, for collectives between nodes.
#pragma once

#include "core/nodes.hpp"
#include "protocols/arrival_agreement.hpp"

namespace tutti {

/// The epoch for calls between nodes: nodes take the place of ranks, and arrive with their last
/// ranks. O(p + n log n) for n nodes.
[[nodiscard]] ArrivalEpoch epoch_between(const ArrivalEpoch& epoch, const Nodes& nodes);

}  // namespace tutti
