/// Derives groups of near ranks, and the links that messages share, from measured distances.
#pragma once

#include "core/distances.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

/// Groups differ if their distances do by this factor: lengths of links, times across to within.
inline constexpr double min_step = 1.2;

/// The levels of groups in the distances, finest first; none if there are no groups. Candidates are
/// the groups that a minimum spanning tree leaves without its longest links (single linkage), cut
/// at the 8 largest steps between successive lengths. They count as groups if the 5 % quantile of
/// the distances across is at least 1.2 times the 95 % quantile of those within, and at most 50 %
/// of the ranks are alone. A pair counts by its slower direction. O(p^2).
[[nodiscard]] Hierarchy clusters_of(const Distances& distances);

/// The groups that share a link: the levels of the file, if it has any; otherwise its nodes, and
/// the clusters of the distances of its largest messages.
[[nodiscard]] Hierarchy groups_of(const DistanceFile& file);

/// The links of these groups. Pairs of ranks are measured alone, so a link's rate is known only if
/// the link is a bottleneck: messages across then take at least 1.2 times as long per byte as those
/// within the group. Its rate is that of the fastest message across. A wider link counts as not
/// shared; this may hide a gain of an order, but never invents one. O(levels * p^2).
[[nodiscard]] std::vector<SharedLinks> shared_links(const Hierarchy& groups, const Links& links);

/// The links between ranks and the shared links of a file. `latency` and `per_byte` as in
/// DistanceFile::links.
[[nodiscard]] Fabric fabric_of(const DistanceFile& file, double latency, double per_byte);

}  // namespace tutti
