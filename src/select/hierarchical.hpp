/// What the model proposes for calls through node memory.
#pragma once

#include <vector>

#include "core/nodes.hpp"
#include "cost/hierarchical_times.hpp"
#include "select/selection.hpp"

namespace tutti {

/// The shape of nodes as if each had the ranks of the largest one.
[[nodiscard]] NodeShape shape_of(const Nodes& nodes);

/// Do all ranks know the block of such a call from their arguments? False if each one knows only
/// its own sizes.
[[nodiscard]] bool is_block_common(Collective collective);

/// The number of leaders per node with the least modelled time, at most 8, because each number
/// needs as many communicators. O(log^2 p).
[[nodiscard]] int leaders_for(Collective collective, const NodeShape& shape, Bytes block,
                              const NodeMachine& machine);

/// The modelled times of the flat algorithms of MPI libraries, and of node memory around the MPI's
/// own collective with `leaders_for` leaders; by time. Uneven nodes count with the ranks of the
/// largest node for node memory, and with their mean, rounded down, for flat algorithms. For
/// explanations only. O(log^2 p).
[[nodiscard]] std::vector<Candidate> hierarchical_proposals(Collective collective,
                                                            const Nodes& nodes, Bytes block,
                                                            const NodeMachine& machine);

}  // namespace tutti
