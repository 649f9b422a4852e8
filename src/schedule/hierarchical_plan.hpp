/// What one rank does in a call that goes through the memory of its node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// What a step of a level plan does. A rank takes its steps one after the other.
enum class HierarchicalStepKind : std::uint8_t {
  copy_in,   ///< bytes of the rank's send side into node memory
  copy_out,  ///< bytes of node memory to the rank's receive side
  reduce,    ///< in node memory: what is at `at` becomes (what is at `from`) op (what is at `at`)
  signal,    ///< the rank's signal to `sequence`; all it did before is seen by who awaits that
  await,     ///< until the signals of the local ranks [first, last) are at `sequence` or above
  inner,     ///< a collective between nodes, on one lane
};

/// One step. `blocks`, of the send or receive side, are numbered in the sequence in which the
/// contract has them there (Contract::before and after): the blocks for ranks 0..p-1 in an
/// alltoall, all blocks at the root of a scatter, block 0 where there is but one (a rank's own, a
/// vector). The bytes [offset, offset + bytes) of these blocks, packed, are at `at` in node memory.
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

/// Where one end of an inner call is.
enum class HierarchicalArea : std::uint8_t {
  node,     ///< in node memory
  send,     ///< in the rank's own send side, packed bytes counted from its start
  receive,  ///< in its receive side
};

/// One end of an inner call: counts and displacements in bytes, the latter from `at` on. As in MPI
///  - one for each node: both ends of an alltoall(v); the receive end of an allgather(v), and at
///  its
///    root of a gather(v); at its root the send end of a scatter(v); the send end of a
///    reduce_scatter(_block), whose blocks follow one another;
///  - one: all other ends that count, also a bcast's on both sides, which are equal there;
///  - none where an end does not count: a root's alone, elsewhere.
struct InnerBuffer {
  HierarchicalArea area = HierarchicalArea::node;
  Bytes at = 0;
  std::vector<Bytes> counts;
  std::vector<Bytes> displacements;
  friend bool operator==(const InnerBuffer&, const InnerBuffer&) = default;
};

/// A call of an ordinary collective between one rank of each node. Member i of lane x's
/// communicator is the rank of node i that leads lane x there (see lane_leader).
struct InnerCall {
  Collective collective = Collective::barrier;  ///< regular where all counts are equal
  int lane = 0;
  int root = 0;  ///< a node
  InnerBuffer send;
  InnerBuffer receive;
  friend bool operator==(const InnerCall&, const InnerCall&) = default;
};

/// All of one rank.
///
/// Each rank of a node has one signal, a number that only it writes and that only grows. A sequence
/// of a plan is that number less what all the node's ranks had when the call before ended: a call
/// that begins at `base` signals to base + sequence, and the next one begins at base +
/// sequence_numbers. Every rank's last step signals to `sequence_numbers`, so that sequence 0 of a
/// call says that a rank has left the one before.
struct HierarchicalPlan {
  Collective collective = Collective::barrier;
  int p = 1;
  Rank rank = 0;
  Rank root = 0;
  int node = 0;
  int local = 0;             ///< of this rank among those of its node
  int leaders = 1;           ///< lanes
  Bytes memory = 0;          ///< of the node, for this call; the same for all its ranks
  int sequence_numbers = 0;  ///< the same for all ranks
  std::vector<HierarchicalStep> steps;
  std::vector<InnerCall> calls;
  friend bool operator==(const HierarchicalPlan&, const HierarchicalPlan&) = default;
};

/// The local rank that leads `lane` of `lanes` on a node of `ranks` ranks: leaders are spread over
/// the node. A rank that leads several lanes makes their calls in ascending sequence.
[[nodiscard]] constexpr int lane_leader(int lane, int lanes, int ranks) {
  return lane * ranks / lanes;
}

[[nodiscard]] std::string_view name_of(HierarchicalStepKind kind);
/// A plan in words, one step a line, for people.
[[nodiscard]] std::string to_text(const HierarchicalPlan& plan);

}  // namespace tutti
