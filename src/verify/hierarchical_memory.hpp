/// Memory of symbols, and who has touched which byte of it when.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// What a byte holds: a byte of the call's blocks as the contract numbers them, and where blocks
/// are combined the ranks whose contributions are in it.
struct NodeByte {
  Bytes origin = -1;  ///< into all blocks, one after the other; -1 nothing
  std::uint64_t ranks = 0;
  friend bool operator==(const NodeByte&, const NodeByte&) = default;
};

/// How much each rank is known to have done: an access at step t of rank r is over for whoever has
/// seen more than t of it.
using HierarchicalClock = std::vector<int>;

/// Bytes that several ranks read and write. An access that is not ordered after those it
/// conflicts with is a fault, whatever the timing.
class HierarchicalMemory {
 public:
  /// So many bytes without content, which `users` have used at their step 0.
  void start(Bytes bytes, std::span<const Rank> users);
  [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(content_.size()); }

  /// What is at `at`, read by `rank` at its step `now`, which has seen `seen`. The rank that has
  /// written it without being seen is returned in `racing`, else no_rank.
  [[nodiscard]] NodeByte read(Bytes at, Rank rank, int now, const HierarchicalClock& seen,
                              Rank& racing);
  /// The same for writing; those who have read it count too.
  void write(Bytes at, NodeByte value, Rank rank, int now, const HierarchicalClock& seen,
             Rank& racing);

 private:
  struct Access {
    Rank rank = no_rank;
    int step = 0;
  };

  std::vector<NodeByte> content_;
  std::vector<Access> writer_;
  std::vector<std::vector<Access>> readers_;  ///< since the last write; each rank's last one
};

}  // namespace tutti
