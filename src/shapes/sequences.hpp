/// The sequences in which positions of a shape take ranks, from early ranks to late ones.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Positions 1..p-1 of a k-nomial tree in the sequence in which a scatter reaches them: large
/// subtrees first, subtrees of one size in the sequence in which a parent sends (Proficz 2020,
/// section 4, for any k). A gather uses the reverse: early ranks are leaves and send first.
/// O(p log p).
///
///     p = 8, k = 2: 4 2 6 1 3 5 7        p = 11, k = 3: 9 6 3 2 5 8 1 4 7 10
[[nodiscard]] std::vector<Position> large_subtrees_first(int p, int k);

/// When a position of a gather receives its children's blocks.
enum class Receives : std::uint8_t {
  on_arrival,  ///< after its rank has arrived
  early,       ///< before that: the progress thread receives
};

/// Positions 1..p-1 of a k-nomial gather, longest path to the root first. The length of a path is
/// the number of blocks that move one after the other from a rank's arrival until its block is at
/// the root; ties follow depth. The last position is a leaf and child of the root, so it delays no
/// other rank. O(p log p).
///
///     p = 8, k = 2, on arrival: 7 6 4 5 3 2 1    6 takes 1 block and sends 2 to 4, which sends 4
///                   early:      7 6 5 4 3 2 1    6 only sends
[[nodiscard]] std::vector<Position> long_ways_first(int p, int k, Receives receives);

}  // namespace tutti
