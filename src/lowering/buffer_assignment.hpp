/// Places blocks in memory: turns a schedule into operations on buffers.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// Where bytes are: in the caller's buffers or in Tutti's.
enum class Area : std::uint8_t {
  own,  ///< the caller's buffer for the rank's own block; the send buffer where there is no root
  all,  ///< the root's buffer for the blocks of all ranks; the receive buffer without a root
  scratch,  ///< packed bytes of Tutti's own
};

/// A stretch of one area.
struct Place {
  Area area = Area::scratch;
  Blocks blocks;     ///< in own and all: which blocks
  Bytes offset = 0;  ///< in scratch: from its start; else into the packed blocks
  Bytes bytes = 0;
  bool whole = true;  ///< all of the blocks, not a segment
};

/// A step bound to buffers. `wait` keeps the meaning it has in a schedule.
struct Operation {
  StepKind kind = StepKind::send;
  Runner runner = Runner::caller;
  Rank peer = no_rank;
  int message = 0;                    ///< the how-many-eth message to or from this peer
  Place from;                         ///< send, copy and reduce
  Place to;                           ///< recv, copy and reduce, which makes it from op to
  int first_need = 0, last_need = 0;  ///< its part of Placement::needs
  int first = 0, last = 0;            ///< wait: operations
  int slots = 0;                      ///< as in a step: most such operations in flight at once
};

/// All operations of one rank.
struct Placement {
  std::vector<Operation> operations;
  std::vector<int> needs;  ///< operations that must have completed before one starts
  Bytes scratch = 0;
};

/// What the caller's buffers allow.
struct Ends {
  bool own_in_place = false;  ///< the own block is already where it belongs (MPI_IN_PLACE)
  bool own_dense = true;      ///< packed bytes of Area::own can be addressed in place
  bool all_dense = true;      ///< the same for Area::all
  /// The root's blocks are small, and those that follow one another in the order do not do so in
  /// its buffer: messages of several blocks are packed and unpacked by copies of its own. Left to
  /// the MPI where blocks of one message lie between those of another (holes).
  bool all_packed = false;
  /// Without a root: blocks that follow one another in the order do not do so in Area::all.
  bool all_torn = false;

  friend bool operator==(const Ends&, const Ends&) = default;
};

/// Places the blocks of a gather or scatter. Data moves straight between the callers' buffers
/// where a rank passes on nothing but its own block; ranks that forward keep one packed copy of
/// what passes through them, in the order of positions. Messages keep the runner of their step; a
/// copy that only writes the caller's receive buffer goes with the schedule's background steps, if
/// it has any. `own_bytes` is the size of the rank's
/// own block, `position` its position in the order. O(steps log steps).
[[nodiscard]] Placement place(const Schedule& schedule, Position position, Bytes own_bytes,
                              const Ends& ends);

}  // namespace tutti
