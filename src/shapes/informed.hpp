/// The broadcast tree for known arrivals.
#pragma once

#include <vector>

#include "core/problem.hpp"

namespace tutti {

/// Returns the neighbours of each rank; children are in the sequence of the sends. Greedy: the
/// informed rank that is free first sends to the uninformed rank that arrives first, with ties by
/// rank. `ready` (by rank) and `message` (one vector) are times in the unit of Bytes. If ranks
/// receive only after their arrival, and a vector is sent as a whole after it is received as a
/// whole, no broadcast ends earlier (brute force for p <= 6). O(p log p).
///
///     p = 5, root 0, message 10, ready 0 0 0 0 25
///         0 -+- 1 -+- 3
///            |     +- 4        0>1 at 0, 0>2 and 1>3 at 10, 1>4 at 25 (free since 20)
///            +- 2
[[nodiscard]] std::vector<TreeNeighbours> informed_tree(const std::vector<Bytes>& ready, Rank root,
                                                        Bytes message);

}  // namespace tutti
