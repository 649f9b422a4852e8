/// Lowering: from one rank's schedule to the program that runs.
#pragma once

#include "core/problem.hpp"
#include "lowering/program.hpp"

namespace tutti {

/// The program of a schedule. `problem` is the one that the schedule was made for; vectors are cut
/// as the schedule says. `own`: the bytes of this rank's block in a gather or scatter by its own
/// arguments, which the root's sizes may contradict.
///
/// Follows the values of blocks, by ranges: a step leaves them where they are if it can. Messages
/// use the caller's buffers directly, and whole blocks keep the caller's datatype; a bcast's vector
/// is in Area::receive at all ranks. Reductions refer to ranges of packed bytes. Staging memory
/// holds
///  - messages that a rank of a gather joins, or of a scatter forwards;
///  - messages of several pairs, and of small blocks that are not adjacent (`traits.packs_blocks`);
///  - segments of blocks, and parts of vectors, whose datatype is not contiguous;
///  - contributions that a reduction would change, and values that it receives, unless they become
///    the result where they are (docs/decisions/blocks-of-all-collectives.md);
///  - the blocks to send of an alltoall(v) in place, because receives overwrite them.
/// A wait frees the memory that only completed operations have used.
///
/// An operation needs the earlier ones that write bytes that it uses, or use bytes that it writes;
/// these needs are among those of the steps, beside the message that had a message's tag before.
/// Messages keep the runner of their step, copies have that of the step that they serve, or of the
/// last step. Steps must be as ScheduleBuilder makes them; a schedule may still break its contract,
/// or not match those of other ranks.
///
/// O(s log s) for s steps, times the ranges of blocks of a message that are not adjacent; and O(p)
/// for pairs, and for reductions whose order lists all ranks.
[[nodiscard]] Program lower(const Schedule& schedule, const Problem& problem, Bytes own,
                            const BufferTraits& traits);

/// The same for a one-sided schedule, whose operations run in sequence; `problem` is cut as the
/// schedule says. The root's blocks are in Area::send, or Area::receive if data flow to the root.
/// Elsewhere blocks are in the window if it has room for all that the rank handles: else in staging
/// memory, as is a vector that the rank combines. The root copies its own block first; a rank of a
/// scatter copies its block to the window after it has served its children. O(s log s) for s steps.
[[nodiscard]] Program lower_one_sided(const Schedule& schedule, const Problem& problem);

}  // namespace tutti
