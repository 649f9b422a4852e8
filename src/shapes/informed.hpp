/// The broadcast tree that follows the arrivals.
#pragma once

#include <vector>

#include "core/problem.hpp"

namespace tutti {

/// Each time the rank that is informed and free earliest sends to the earliest arrived one that is
/// not informed. Times in bytes that could pass: `ready` by rank, `message` for one vector. With
/// ranks that receive when they are there, and vectors that are neither cut nor passed on before
/// they are whole, no broadcast is over earlier (brute force for p <= 6). The neighbours of each
/// rank, children in the sequence in which they are served. Ties by rank. O(p log p).
///
///     p = 5, root 0, message 10, ready 0 0 0 0 25
///         0 -+- 1 -+- 3
///            |     +- 4        0>1 at 0, 0>2 and 1>3 at 10, 1>4 at 25 (free since 20)
///            +- 2
[[nodiscard]] std::vector<TreeNeighbours> informed_tree(const std::vector<Bytes>& ready, Rank root,
                                                        Bytes message);

}  // namespace tutti
