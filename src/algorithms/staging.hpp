/// What ranks hold of others' data beside the caller's buffers, and its bound.
#pragma once

#include "algorithms/algorithms.hpp"
#include "protocols/growth.hpp"

namespace tutti {

/// What a rank may stage where nobody says otherwise, in bytes.
inline constexpr Bytes default_staging = Bytes{64} << 20;

/// The most bytes that a rank stages in one call: packed copies beside the caller's buffers.
/// `bytes` are those of a vector, or of all blocks that a rank sends or receives in all. Of a
/// gather or scatter along a tree what a rank stages is bounded by `memory`, to which its own block
/// comes. Data of types that are not contiguous is packed too: a copy of the rank's own buffers at
/// most.
[[nodiscard]] Bytes staging_of(const Specification& specification, int p, Bytes bytes,
                               Bytes memory);

/// Does a rank stay within `memory` (0: no bound), whatever it is told?
[[nodiscard]] inline bool fits(const Specification& specification, int p, Bytes bytes,
                               Bytes memory) {
  return memory <= 0 || specification.algorithm->staging == Staging::subtrees ||
         staging_of(specification, p, bytes, memory) <= memory;
}

/// What runs instead where that would be too much: the algorithm of the collective that stages
/// least, in the same order and by the same runner.
[[nodiscard]] Specification within(const Specification& specification, int p, Bytes bytes,
                                   Bytes memory);

/// Is it a gather or scatter along a k-nomial tree, whose heavy subtrees may be cut off?
[[nodiscard]] inline bool is_fixed_tree(const Specification& specification) {
  return specification.algorithm->staging == Staging::subtrees &&
         specification.algorithm->takes("order");
}

/// Sizes by rank, by position.
[[nodiscard]] std::vector<Bytes> by_position(const std::vector<Bytes>& sizes, const Order& order);

/// The rules of such a tree over the positions of an order.
[[nodiscard]] Growth fixed_growth(const Specification& specification, int p, Bytes memory);

/// The place of position `me` in it by what SubtreeSizes tells: the bytes of its own block, and
/// what passes through each of its children, smallest subtrees first. Ranks are positions.
[[nodiscard]] TreeNeighbours fixed_position(const Growth& growth, Position me, Bytes own,
                                            const std::vector<Bytes>& children);

/// The same place with the ranks of `order`. Heavy subtrees are served first in a scatter.
[[nodiscard]] TreeNeighbours in_order(TreeNeighbours place, const Order& order);

}  // namespace tutti
