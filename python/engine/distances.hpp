/// Distances as the parts of the Python module share them.
#pragma once

#include <optional>

#include "algorithms/problems.hpp"
#include "cost/machine.hpp"
#include "select/reordering.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

/// The fabric of a file's ranks, of which there must be `p`; none without a file.
[[nodiscard]] std::optional<Fabric> fabric_for(const std::optional<DistanceFile>& distances,
                                               const Machine& machine, int p);

/// The orders by distance for a call, its largest block being every rank's.
[[nodiscard]] Reordering reordered_call(const Specification& specification, const Call& call,
                                        const Fabric& fabric);

}  // namespace tutti
