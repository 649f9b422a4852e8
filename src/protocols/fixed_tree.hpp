/// Protocols that pass sizes along a tree whose shape every rank can compute.
#pragma once

#include <vector>

#include "protocols/protocol.hpp"

namespace tutti {

/// A rank's neighbours in such a tree.
struct TreeEdges {
  Rank parent = no_rank;       ///< no_rank at the root
  std::vector<Rank> children;  ///< in any sequence, but alike in every call
};

/// Knowledge `subtree_sizes`: every rank learns the sizes of its `children`'s subtrees, in the
/// sequence of `edges.children`, from local sizes alone. Each child sends its parent 1 word;
/// dependent steps: the depth of the tree. A parent other than the root does not add a child's
/// subtree above `heaviest` bytes to its `own` size, because such a subtree does not pass through
/// it.
[[nodiscard]] Protocol subtree_sizes(TreeEdges edges, Bytes own, Bytes heaviest,
                                     std::vector<Bytes>& children);

/// Knowledge `all_sizes`: the root, which knows all `sizes`, by rank, passes them down the tree.
/// Each edge carries p words; dependent steps: the depth of the tree. The others' `sizes` have the
/// length p at first.
[[nodiscard]] Protocol all_sizes(TreeEdges edges, std::vector<Bytes>& sizes);

}  // namespace tutti
