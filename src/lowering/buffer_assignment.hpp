/// Lowering of schedules to operations on buffers.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// The memory that holds bytes: a buffer of the caller or of Tutti.
enum class Area : std::uint8_t {
  send,     ///< the caller's send buffer
  receive,  ///< the caller's receive buffer
  staging,  ///< packed bytes in Tutti's memory
};

/// A reference to some bytes of one area.
struct BufferRef {
  Area area = Area::staging;
  Blocks blocks;     ///< in the caller's buffers: the blocks
  Bytes offset = 0;  ///< in staging: from its start; else into the packed blocks
  Bytes bytes = 0;
  bool whole = true;  ///< whole blocks, not a segment of them
};

/// A step with its buffers. `wait` means the same as in a schedule.
struct Operation {
  StepKind kind = StepKind::send;
  Runner runner = Runner::caller;
  Rank peer = no_rank;
  int message = 0;                    ///< number of the message among those to or from this peer
  BufferRef from;                     ///< send, copy and reduce
  BufferRef to;                       ///< recv, copy and reduce (to = from op to)
  int first_need = 0, last_need = 0;  ///< its range of BufferAssignment::needs
  int first = 0, last = 0;            ///< wait: the operations [first, last)
  int slots = 0;                      ///< as in a step: limit of such operations in flight
};

/// All operations of one rank.
struct BufferAssignment {
  std::vector<Operation> operations;
  std::vector<int> needs;  ///< operations that must complete before one starts
  Bytes scratch = 0;       ///< size of the staging memory
};

/// The properties of the caller's buffers.
struct BufferTraits {
  bool in_place = false;           ///< MPI_IN_PLACE: the rank's own block needs no copy
  bool send_contiguous = true;     ///< the bytes of Area::send are contiguous
  bool receive_contiguous = true;  ///< the same for Area::receive
  /// The root's blocks are small, and consecutive positions are not adjacent in its buffer. Copies
  /// then pack and unpack messages of several blocks. Messages with holes are left to the MPI's
  /// datatypes.
  bool packs_blocks = false;
  /// Collectives without a root: consecutive positions are not adjacent in Area::receive.
  bool receive_scattered = false;
  /// Reductions: operands may be swapped, which saves copies. Valid if the operation commutes and
  /// no two ranks combine the same values; these could get results with different bits (a NaN's
  /// payload, the sign of a zero, a user's operation).
  bool swaps = false;
  /// Reductions: packed bytes between stretches of staging memory, a multiple of an element.
  Bytes padding = 0;

  friend bool operator==(const BufferTraits&, const BufferTraits&) = default;
};

}  // namespace tutti
