/// Lowering of bcast, allgather(v), alltoall(v) and barrier, whose blocks move unchanged.
#pragma once

#include "core/problem.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// Assigns buffers to a bcast, allgather(v), alltoall(v) or barrier. A bcast's vector is in
/// Area::receive at all ranks, as is a rank's own data if `traits.in_place` is set. Messages use
/// the caller's buffers directly; whole blocks keep the caller's datatype. Staging memory holds
///  - all blocks, packed by position, if segments or parts of scattered buffers are sent;
///  - messages of several small blocks that are not adjacent (`traits.packs_blocks`);
///  - messages of several pairs, and pairs of other ranks;
///  - the blocks to send of an alltoall(v) in place, because receives overwrite them.
///
/// `problem` is that of the schedule's rank; its sizes are those of the schedule's blocks. A copy
/// that only writes the caller's receive buffer has the runner of the step before it. A message of
/// consecutive blocks costs as much as one of a single block; O(steps log steps + blocks of
/// messages with holes or pairs).
[[nodiscard]] BufferAssignment lower_movement(const Schedule& schedule, const Problem& problem,
                                              const BufferTraits& traits);

}  // namespace tutti
