/// Programs: operations on named areas of memory, which are what runs and what is verified.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.hpp"

namespace tutti {

/// Messages between two ranks whose numbers differ by a multiple of this have the same tag, so they
/// must begin in their sequence.
inline constexpr int message_tags = 3072;

/// The memory that holds bytes: a buffer of the caller or of Tutti.
enum class Area : std::uint8_t {
  send,     ///< the caller's send buffer
  receive,  ///< the caller's receive buffer; in a bcast, at all ranks
  staging,  ///< packed bytes in Tutti's memory
  window,   ///< the rank's bytes of a window, in one-sided collectives
  node,     ///< packed bytes in memory that the ranks of a node share
};

/// The kinds of operations of a program.
enum class OperationKind : std::uint8_t {
  send,    ///< `from` to peer
  recv,    ///< `to` from peer
  put,     ///< `from` to `to` in peer's window, where it is once a flush of peer has completed
  flush,   ///< until all earlier puts to peer have reached its window
  copy,    ///< `from` to `to`
  reduce,  ///< `to` becomes `from` op `to`
  wait,    ///< until the operations [first, last) have completed
  signal,  ///< raises the rank's signal to `sequence`; ranks that await it see all it did before
  await,   ///< until the signals of local ranks [first, last) are at least `sequence`
  call,    ///< a collective between nodes: `call` of Program::calls
};

/// A reference to some bytes of one area. Without blocks it names the packed bytes [offset, offset
/// + bytes) of the area. In the caller's buffers that is for reductions, one-sided collectives and
/// programs that use node memory: all blocks of the buffer in the sequence of the contract
/// (Contract::before and after).
struct BufferRef {
  Area area = Area::staging;
  Blocks blocks = {};  ///< in the caller's buffers: the blocks
  Bytes offset = 0;    ///< with blocks: into the packed blocks
  Bytes bytes = 0;
  bool whole = true;  ///< whole blocks, not a segment of them
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// One operation and its buffers.
struct Operation {
  OperationKind kind = OperationKind::send;
  Runner runner = Runner::caller;
  Rank peer = no_rank;
  int message = 0;                    ///< number of the message among those to or from this peer
  BufferRef from = {};                ///< send, put, copy and reduce
  BufferRef to = {};                  ///< recv, put, copy and reduce
  int first_need = 0, last_need = 0;  ///< its range of Program::needs; empty for a wait
  int first = 0, last = 0;            ///< wait: operations; await: local ranks
  int slots = 0;                      ///< as in a step: limit of such operations in flight
  int sequence = 0;                   ///< signal, await
  int call = 0;                       ///< call
  StepId step = -1;                   ///< of the schedule that it was made for; -1: none
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A buffer of an inner call: counts, and displacements from `at`, in packed bytes of an area. As
/// in MPI there are
///  - one for each node: both buffers of an alltoall(v); the receive buffer of an allgather(v), and
///    at the root of a gather(v); the send buffer at the root of a scatter(v), and of a
///    reduce_scatter(_block), whose blocks are consecutive;
///  - one: all other significant buffers; in a bcast both, which are equal;
///  - none: buffers that are significant only at the root, elsewhere.
struct InnerBuffer {
  Area area = Area::node;
  Bytes at = 0;
  std::vector<Bytes> counts;
  std::vector<Bytes> displacements;
  friend bool operator==(const InnerBuffer&, const InnerBuffer&) = default;
};

/// An ordinary collective between one rank of each node. Member i of lane x's communicator is the
/// rank of node i that leads lane x (see lane_leader).
struct InnerCall {
  Collective collective = Collective::barrier;  ///< regular if all counts are equal
  int lane = 0;
  int root = 0;  ///< a node
  InnerBuffer send;
  InnerBuffer receive;
  friend bool operator==(const InnerCall&, const InnerCall&) = default;
};

/// The local rank that leads `lane` of `lanes` on a node of `ranks` ranks. Leaders are spread over
/// the node. A rank that leads several lanes makes their calls in ascending sequence.
[[nodiscard]] constexpr int lane_leader(int lane, int lanes, int ranks) {
  return lane * ranks / lanes;
}

/// All operations of one rank.
///
/// In a program that uses node memory or windows each operation needs the one before.
///
/// The messages of a one-sided collective are its notifications. One that carries no bytes may
/// overtake puts that no flush has ended. All ranks but the root begin when the first one comes.
///
/// With node memory, each rank of a node has
/// one signal, a number that only it writes and that only grows. Sequence numbers count from the
/// value that all signals of the node have when the previous call ends: a call that begins at
/// `base` signals base + sequence. Every rank's last operation signals `sequence_numbers`, and
/// sequence number 0 means that a rank has left the previous call. At run time HierarchicalRunner
/// shifts the numbers, and advances all calls alike.
struct Program {
  std::vector<Operation> operations;
  std::vector<int> needs;  ///< operations that must complete before one starts
  Bytes scratch = 0;       ///< size of the staging memory
  std::vector<InnerCall> calls;
  int lanes = 1;             ///< of the calls
  Bytes node_memory = 0;     ///< of the node, for this call; equal on all its ranks
  int sequence_numbers = 0;  ///< equal on all ranks that share node memory
  friend bool operator==(const Program&, const Program&) = default;
};

/// Lets each operation need the one before.
void run_in_sequence(Program& program);

[[nodiscard]] std::string_view name_of(OperationKind kind);
/// The name of an area in texts, e.g. "staging memory".
[[nodiscard]] const char* name_of(Area area);
/// A program as text, one operation a line.
[[nodiscard]] std::string to_text(const Program& program);

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
