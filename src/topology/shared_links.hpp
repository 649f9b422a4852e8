/// Which links messages share, as far as measured distances tell.
#pragma once

#include "core/fabric.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

/// The groups that share a link out: those that the file names as levels; else its nodes, and the
/// clusters of them that are seen at its largest messages.
[[nodiscard]] Hierarchy groups_of(const DistanceFile& file);

/// The links of these groups. A pair of ranks was measured alone, so what a link carries is known
/// only where it is narrower than what lies within the group: then a message across is slower by a
/// fifth at least, and the link's rate is that of the fastest one. A wider link counts as not
/// shared, which may hide what an order would gain, and never makes one up. O(levels * p^2).
[[nodiscard]] std::vector<SharedLinks> shared_links(const Hierarchy& groups, const Links& links);

/// Links and links of a file. `latency` and `per_byte` as in DistanceFile::links.
[[nodiscard]] Fabric fabric_of(const DistanceFile& file, double latency, double per_byte);

}  // namespace tutti
