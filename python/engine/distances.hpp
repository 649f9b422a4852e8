/// Conversions of distances that several parts of the Python module use.
#pragma once

#include <optional>

#include "algorithms/problems.hpp"
#include "cost/machine.hpp"
#include "select/rank_orders.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

/// The fabric of a file's ranks; none without a file. Raises ValueError unless it has `p` ranks.
[[nodiscard]] std::optional<Fabric> fabric_for(const std::optional<DistanceFile>& distances,
                                               const Machine& machine, int p);

/// The orders by distance for a call, modelled with its largest block for every rank.
[[nodiscard]] Reordering reordered_call(const Specification& specification, const Call& call,
                                        const Fabric& fabric);

}  // namespace tutti
