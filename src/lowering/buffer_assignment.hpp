/// Lowering: a schedule becomes operations on buffers.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// Where bytes are: in the caller's buffers or in Tutti's.
enum class Area : std::uint8_t {
  send,     ///< the caller's send buffer
  receive,  ///< the caller's receive buffer
  staging,  ///< packed bytes in memory of Tutti
};

/// A stretch of one area.
struct BufferRef {
  Area area = Area::staging;
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
  BufferRef from;                     ///< send, copy and reduce
  BufferRef to;                       ///< recv, copy and reduce, which makes it from op to
  int first_need = 0, last_need = 0;  ///< its part of BufferAssignment::needs
  int first = 0, last = 0;            ///< wait: operations
  int slots = 0;                      ///< as in a step: most such operations in flight at once
};

/// All operations of one rank.
struct BufferAssignment {
  std::vector<Operation> operations;
  std::vector<int> needs;  ///< operations that must have completed before one starts
  Bytes scratch = 0;
};

/// What the caller's buffers allow.
struct BufferTraits {
  bool in_place = false;           ///< the own block is already where it belongs (MPI_IN_PLACE)
  bool send_contiguous = true;     ///< packed bytes of Area::send can be addressed in place
  bool receive_contiguous = true;  ///< the same for Area::receive
  /// The root's blocks are small, and those that follow one another in the order do not do so in
  /// its buffer: messages of several blocks are packed and unpacked by copies of its own. Left to
  /// the MPI where blocks of one message lie between those of another (holes).
  bool packs_blocks = false;
  /// Without a root: blocks that follow one another in the order do not do so in Area::receive.
  bool receive_scattered = false;

  friend bool operator==(const BufferTraits&, const BufferTraits&) = default;
};

/// Places the blocks of a gather or scatter. Data moves straight between the callers' buffers
/// where a rank passes on nothing but its own block; ranks that forward keep one packed copy of
/// what passes through them, in the order of positions. Messages keep the runner of their step; a
/// copy that only writes the caller's receive buffer goes with the schedule's background steps, if
/// it has any. `block_bytes` is the size of the rank's
/// own block, `position` its position in the order. O(steps log steps).
[[nodiscard]] BufferAssignment assign_buffers(const Schedule& schedule, Position position,
                                              Bytes block_bytes, const BufferTraits& traits);

}  // namespace tutti
