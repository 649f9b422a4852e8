/// Places the blocks of collectives in which all ranks send or all receive, and nothing is
/// combined.
#pragma once

#include "core/problem.hpp"
#include "lowering/buffer_assignment.hpp"

namespace tutti {

/// Places the blocks of a bcast, allgather(v), alltoall(v) or barrier. Area::send is the send
/// buffer, Area::receive the receive buffer; a bcast's vector is in Area::receive at all ranks, and
/// so is what `traits.in_place` says. Blocks travel straight between these two, whole ones in
/// whatever type the caller gives them. Through scratch go
///  - segments and parts of what is not contiguous: all blocks then live there packed, by position;
///  - messages of several small blocks that do not lie together (`traits.packs_blocks`);
///  - several pairs in one message, and pairs that are of other ranks;
///  - the blocks that a rank sends in an alltoall in place, before others take their places.
///
/// `problem` is that of the schedule's rank; its sizes are of blocks as this schedule cuts them. A
/// copy that only writes the caller's receive buffer keeps the runner of the step that it follows.
/// O(steps + blocks in all messages).
[[nodiscard]] BufferAssignment lower_movement(const Schedule& schedule, const Problem& problem,
                                              const BufferTraits& traits);

}  // namespace tutti
