/// The rounds of shapes whose time depends on where ranks sit.
#pragma once

#include "core/traffic.hpp"

namespace tutti {

// Blocks of `block` bytes each; O(messages of the different rounds) time and memory.

/// Allgather around a ring: p - 1 equal rounds, v to v + 1.
[[nodiscard]] Traffic ring_traffic(int p, Bytes block);

/// Allgather by recursive doubling: in round d groups g and g xor 2^d exchange 2^d blocks. If p is
/// no power of two, neighbours are folded into groups as in `Folded`: a block before the first
/// round, all but one back after the last.
///
///     p = 6    1>0 3>2    0<>2 4<>5    0<>4 2<>5    0>1 2>3
[[nodiscard]] Traffic doubling_traffic(int p, Bytes block);

/// A message between position 0 and each other one, one after the other; to 0 or from there.
[[nodiscard]] Traffic star_traffic(int p, Bytes block, bool to_first);

/// Up a k-nomial tree, smallest subtrees first.
///
///     p = 6, k = 2    1>0 3>2 5>4    2>0    4>0
[[nodiscard]] Traffic tree_gather_traffic(int p, int k, Bytes block);
/// Down the same tree: the rounds of the gather backwards.
[[nodiscard]] Traffic tree_scatter_traffic(int p, int k, Bytes block);
/// As the scatter, but every message is the whole vector.
[[nodiscard]] Traffic tree_bcast_traffic(int p, int k, Bytes vector);

}  // namespace tutti
