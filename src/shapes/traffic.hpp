/// The rounds of shapes, for the choice of rank orders by distance.
#pragma once

#include "core/traffic.hpp"

namespace tutti {

// Blocks of `block` bytes each; O(messages of the different rounds) time and memory.

/// Allgather around a ring: p - 1 equal rounds, v to v + 1.
[[nodiscard]] Traffic ring_traffic(int p, Bytes block);

/// Allgather by recursive doubling: in round d groups g and g xor 2^d exchange 2^d blocks. If p is
/// not a power of two, neighbours form groups as in `Folded`: the second position of a pair sends
/// its block before the first round and receives all others after the last.
///
///     p = 6    1>0 3>2    0<>2 4<>5    0<>4 2<>5    0>1 2>3
[[nodiscard]] Traffic doubling_traffic(int p, Bytes block);

/// One message between position 0 and each other position, one after the other; `to_first`: to 0.
[[nodiscard]] Traffic star_traffic(int p, Bytes block, bool to_first);

/// Up a k-nomial tree, smallest subtrees first.
///
///     p = 6, k = 2    1>0 3>2 5>4    2>0    4>0
[[nodiscard]] Traffic tree_gather_traffic(int p, int k, Bytes block);
/// Down the same tree: the rounds of the gather backwards.
[[nodiscard]] Traffic tree_scatter_traffic(int p, int k, Bytes block);
/// The rounds of the scatter; every message is the whole vector.
[[nodiscard]] Traffic tree_bcast_traffic(int p, int k, Bytes vector);

}  // namespace tutti
