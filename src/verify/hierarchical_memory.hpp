/// Models memory of symbols, and records which rank accessed which byte.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The content of a byte: a byte of the call's blocks as the contract numbers them, and in
/// reductions the ranks whose contributions it includes.
struct NodeByte {
  Bytes origin = -1;  ///< offset into all blocks in sequence; -1: no content
  std::uint64_t ranks = 0;
  friend bool operator==(const NodeByte&, const NodeByte&) = default;
};

/// A vector clock, the steps that each rank is known to have completed: an access at step t of rank
/// r is complete for any rank that has seen more than t steps of r.
using HierarchicalClock = std::vector<int>;

/// Bytes that several ranks read and write. An access that is not ordered after those it
/// conflicts with is a fault, whatever the timing.
class HierarchicalMemory {
 public:
  /// Begins with `bytes` bytes without content, which `users` have used at their step 0.
  void start(Bytes bytes, std::span<const Rank> users);
  [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(content_.size()); }

  /// Reads byte `at` by `rank` at its step `now` with the clock `seen`. Sets `racing` to a rank
  /// whose write is not ordered before the read, else to no_rank.
  [[nodiscard]] NodeByte read(Bytes at, Rank rank, int now, const HierarchicalClock& seen,
                              Rank& racing);
  /// The same for a write, which must also be ordered after reads.
  void write(Bytes at, NodeByte value, Rank rank, int now, const HierarchicalClock& seen,
             Rank& racing);

 private:
  struct Access {
    Rank rank = no_rank;
    int step = 0;
  };

  std::vector<NodeByte> content_;
  std::vector<Access> writer_;
  std::vector<std::vector<Access>> readers_;  ///< since the last write: the last read of each rank
};

}  // namespace tutti
