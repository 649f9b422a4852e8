/// What the model proposes for calls through node memory.
#pragma once

#include <span>
#include <vector>

#include "core/nodes.hpp"
#include "cost/hierarchical_times.hpp"
#include "select/selection.hpp"

namespace tutti {

/// Do all ranks know the block of such a call from their arguments? False if each one knows only
/// its own sizes.
[[nodiscard]] bool is_block_common(Collective collective);

/// The modelled times of the flat algorithms of MPI libraries, for the mean number of ranks on a
/// node, rounded down, and of these programs around the MPI's own collective; by time. For
/// explanations only. O(operations).
[[nodiscard]] std::vector<Candidate> hierarchical_proposals(Collective collective,
                                                            const Nodes& nodes, Bytes block,
                                                            std::span<const Program> programs,
                                                            const NodeMachine& machine);

}  // namespace tutti
