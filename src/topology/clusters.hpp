/// Finds groups of ranks that are near to one another.
#pragma once

#include "core/distances.hpp"
#include "topology/distance_plan.hpp"

namespace tutti {

/// Groups differ if their distances do by this factor: lengths of links, times across to within.
inline constexpr double min_step = 1.2;

/// The levels of groups in the distances, finest first; none if there are no groups. Candidates are
/// the groups that a minimum spanning tree leaves without its longest links (single linkage), cut
/// at the 8 largest steps between successive lengths. They count as groups if the 5 % quantile of
/// the distances across is at least 1.2 times the 95 % quantile of those within, and at most 50 %
/// of the ranks are alone. A pair counts by its slower direction. O(p^2).
[[nodiscard]] Hierarchy clusters_of(const Distances& distances);

}  // namespace tutti
