/// Lowers one-sided schedules.
#pragma once

#include "core/problem.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// The program of a one-sided schedule, whose operations run in sequence; `problem` is cut as the
/// schedule says. The root's blocks are in Area::send, or Area::receive if data flow to the root.
/// Elsewhere blocks are in the window if it has room for all that the rank handles: else in staging
/// memory, as is a vector that the rank combines. The root copies its own block first; a rank of a
/// scatter copies its block to the window after it has served its children. O(s log s) for s steps.
[[nodiscard]] Program lower_one_sided(const Schedule& schedule, const Problem& problem);

}  // namespace tutti
