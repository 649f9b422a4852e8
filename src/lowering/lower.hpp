/// Lowering: from one rank's schedule to the program that runs.
#pragma once

#include "core/problem.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// The program of a schedule of any collective but the one-sided ones. `problem` is the one that
/// the schedule was made for; vectors are cut as the schedule says. `own`: the bytes of this rank's
/// block in a gather or scatter by its own arguments, which the root's sizes may contradict.
/// O(steps log steps + blocks in all messages); reductions O(steps^2 + steps blocks).
[[nodiscard]] BufferAssignment lower(const Schedule& schedule, const Problem& problem, Bytes own,
                                     const BufferTraits& traits);

}  // namespace tutti
