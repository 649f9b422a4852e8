/// The staging memory that algorithms need, and its bound.
#pragma once

#include "algorithms/algorithms.hpp"
#include "protocols/growth.hpp"

namespace tutti {

struct TreeEdges;

/// The default bound of a rank's staging memory, in bytes.
inline constexpr Bytes default_staging = Bytes{64} << 20;

/// The maximum of bytes that a rank stages in one call. `bytes` are those of a vector, or of all
/// blocks that a rank sends or receives; `largest` are those of the largest block in an irregular
/// reduce_scatter (0: all are equal). A gather or scatter along a tree stages at most `memory` plus
/// the rank's own block. Not included: data of types that are not contiguous is packed too, at most
/// one copy of the rank's own buffers.
[[nodiscard]] Bytes staging_of(const Specification& specification, int p, Bytes bytes, Bytes memory,
                               Bytes largest = 0);

/// True if a rank stages at most `memory` bytes (0: no bound) at any sizes of the other ranks.
[[nodiscard]] inline bool fits(const Specification& specification, int p, Bytes bytes,
                               Bytes memory) {
  return memory <= 0 || specification.algorithm->staging == Staging::subtrees ||
         staging_of(specification, p, bytes, memory) <= memory;
}

/// `specification` if it fits into `memory`; else the algorithm of the collective that stages
/// least, with the same order and runner.
[[nodiscard]] Specification within(const Specification& specification, int p, Bytes bytes,
                                   Bytes memory);

/// True for a gather or scatter along a k-nomial tree; its heavy subtrees may be cut off.
[[nodiscard]] inline bool is_fixed_tree(const Specification& specification) {
  return specification.algorithm->staging == Staging::subtrees &&
         specification.algorithm->takes("order");
}

/// Reorders sizes by rank into sizes by position.
[[nodiscard]] std::vector<Bytes> by_position(const std::vector<Bytes>& sizes, const Order& order);

/// The neighbours of `rank` in the k-nomial tree over the positions of `order`, smallest subtrees
/// first.
[[nodiscard]] TreeEdges knomial_edges(const Order& order, int k, Rank rank);

/// The neighbours of position `me` in such a tree, from the results of subtree_sizes(): the bytes
/// of its own block, and the bytes that pass through each of its children, smallest subtrees first.
/// `growth` is that of the tree (ProblemMaker). Ranks in the result are positions.
[[nodiscard]] TreeNeighbours fixed_position(const Growth& growth, Position me, Bytes own,
                                            const std::vector<Bytes>& children);

/// The same neighbours with the ranks of `order`. A scatter serves the last positions first, as in
/// a tree without heavy subtrees.
[[nodiscard]] TreeNeighbours in_order(TreeNeighbours neighbours, const Order& order);

}  // namespace tutti
