/// The plan of one rank for a call through node memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The kinds of steps of a hierarchical plan. A rank executes its steps in sequence.
enum class HierarchicalStepKind : std::uint8_t {
  copy_in,   ///< copies bytes of the rank's send buffer into node memory
  copy_out,  ///< copies bytes of node memory to the rank's receive buffer
  reduce,    ///< in node memory: the bytes at `at` become (bytes at `from`) op (bytes at `at`)
  signal,    ///< raises the rank's signal to `sequence`; ranks that await it see all it did before
  await,     ///< waits until the signals of local ranks [first, last) are at least `sequence`
  inner,     ///< runs a collective between nodes, on one lane
};

/// One step. `blocks` numbers the blocks of the send or receive buffer in the sequence of the
/// contract (Contract::before and after): the blocks for ranks 0..p-1 in an alltoall, all blocks at
/// the root of a scatter, block 0 if there is only one (a rank's own, a vector). The bytes [offset,
/// offset + bytes) of these blocks, packed, are at `at` in node memory.
struct HierarchicalStep {
  HierarchicalStepKind kind = HierarchicalStepKind::signal;
  BlockRange blocks;  ///< copies
  Bytes offset = 0;   ///< copies: into the packed blocks
  Bytes bytes = 0;    ///< copies, reduce
  Bytes at = 0;       ///< copies, reduce: in node memory
  Bytes from = 0;     ///< reduce: in node memory; the left operand
  int sequence = 0;   ///< signal, await
  int first = 0;      ///< await: local ranks
  int last = 0;       ///< await
  int call = 0;       ///< inner: which of HierarchicalPlan::calls
  friend bool operator==(const HierarchicalStep&, const HierarchicalStep&) = default;
};

/// The memory of an inner buffer.
enum class HierarchicalArea : std::uint8_t {
  node,     ///< in node memory
  send,     ///< in the rank's own send buffer, as packed bytes from its start
  receive,  ///< in its receive buffer
};

/// A buffer of an inner call: counts, and displacements from `at`, in bytes. As in MPI there are
///  - one for each node: both buffers of an alltoall(v); the receive buffer of an allgather(v), and
///    at the root of a gather(v); the send buffer at the root of a scatter(v), and of a
///    reduce_scatter(_block), whose blocks are consecutive;
///  - one: all other significant buffers; in a bcast both, which are equal;
///  - none: buffers that are significant only at the root, elsewhere.
struct InnerBuffer {
  HierarchicalArea area = HierarchicalArea::node;
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

/// The plan of one rank.
///
/// Each rank of a node has one signal, a number that only it writes and that only grows. Sequence
/// numbers of a plan count from the value that all signals of the node have when the previous call
/// ends: a call that begins at `base` signals base + sequence. Every rank's last step signals
/// `sequence_numbers`, and sequence number 0 means that a rank has left the previous call. At run
/// time HierarchicalRunner shifts the numbers, and advances all calls alike.
struct HierarchicalPlan {
  Collective collective = Collective::barrier;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  int node = 0;
  int local = 0;             ///< this rank's number on its node
  int leaders = 1;           ///< lanes
  Bytes memory = 0;          ///< of the node, for this call; equal on all its ranks
  int sequence_numbers = 0;  ///< equal on all ranks
  std::vector<HierarchicalStep> steps;
  std::vector<InnerCall> calls;
  friend bool operator==(const HierarchicalPlan&, const HierarchicalPlan&) = default;
};

/// The local rank that leads `lane` of `lanes` on a node of `ranks` ranks. Leaders are spread over
/// the node. A rank that leads several lanes makes their calls in ascending sequence.
[[nodiscard]] constexpr int lane_leader(int lane, int lanes, int ranks) {
  return lane * ranks / lanes;
}

[[nodiscard]] std::string_view name_of(HierarchicalStepKind kind);
/// A plan as text, one step per line.
[[nodiscard]] std::string to_text(const HierarchicalPlan& plan);

}  // namespace tutti
