/// Collectives between nodes, as operations of programs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The memory that holds bytes: a buffer of the caller or of Tutti.
enum class Area : std::uint8_t {
  send,     ///< the caller's send buffer
  receive,  ///< the caller's receive buffer; in a bcast, at all ranks
  staging,  ///< packed bytes in Tutti's memory
  window,   ///< the rank's bytes of a window, in one-sided collectives
  node,     ///< packed bytes in memory that the ranks of a node share
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

}  // namespace tutti
