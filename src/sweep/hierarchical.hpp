/// The exhaustive sweep of level plans: every collective on every shape of nodes.
#pragma once

#include <optional>

#include "algorithms/hierarchical_problems.hpp"
#include "sweep/sweep.hpp"
#include "verify/hierarchical.hpp"

namespace tutti {

/// The first fault of the plans for `call`, if any.
[[nodiscard]] std::optional<HierarchicalFault> check(const Call& call, const Nodes& nodes,
                                                     const HierarchicalOptions& options,
                                                     std::span<const HierarchicalPlan> plans);

/// Verifies the plans of `collective` for every way to put up to `max_p` ranks on nodes, dealt out
/// in blocks, in turn and shuffled, and for some shapes of up to 2 max_p + 1, some with groups; for
/// every root, up to four leaders, and eight where a node has as many ranks, one to three chunks,
/// with and without use of the ranks' own buffers, operations that commute and that do not, and
/// with sizes in turn. Plans must be refused where an operation does not commute and ranks of a
/// node do not follow one another, and nowhere else. Each inner call that occurs is then verified
/// with the schedules of every algorithm between nodes. Seconds for `max_p` 5.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, int max_p = 5);
/// The same on one shape.
[[nodiscard]] SweepResult sweep_hierarchical(Collective collective, const Nodes& nodes);

}  // namespace tutti
