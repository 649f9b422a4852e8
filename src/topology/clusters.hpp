/// Groups of ranks that are near to one another.
#pragma once

#include "core/distances.hpp"
#include "topology/distance_plan.hpp"

namespace tutti {

/// The levels of groups that the distances show, finest first: ranks fall into groups where all
/// but a twentieth of the pairs within one are nearer than all but a twentieth of those across, by
/// a fifth at least, and where no more than half of the ranks stay alone. None where no such groups
/// are seen. A pair counts by its slower direction. The groups that are looked at are those of a
/// shortest tree without its longest links (single linkage), at its eight largest steps. O(p^2).
[[nodiscard]] Hierarchy clusters_of(const Distances& distances);

}  // namespace tutti
