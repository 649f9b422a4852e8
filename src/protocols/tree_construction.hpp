/// The distributed construction of the ordered tree, to which each rank brings only its own size.
#pragma once

#include "protocols/ordered_tree.hpp"
#include "protocols/protocol.hpp"

namespace tutti {

/// What a rank learns of the tree.
struct GrownTree {
  /// An external root lacks the subtrees that a threshold or a promotion sends to it.
  TreeNeighbours neighbours;
  bool is_accepted = true;  ///< false at an external root whose central tree differs
};

/// One rank's part of the construction (Träff 2017, Lemma 3). In each round the fixed roots of
/// adjacent cubes exchange the state of their cubes and send it to their gather roots: at most
/// 2 ceil(log2 p) - 1 dependent steps of constant size, O(log p) memory.
///
/// With promotions, the external root, which knows all sizes, then sends verdicts, and only down
/// the heavy subtrees. Both ends of an edge know whether a verdict comes.
///
/// `own` is the size of this rank's block. `central` is the tree as the external root computes it
/// from all sizes, and significant only there. The root does not accept a grown tree in which it
/// has a child that it has not there before promotions, and promotes nothing in such a tree.
[[nodiscard]] Protocol construct_tree(Growth growth, Rank rank, Bytes own,
                                      const OrderedTree* central, GrownTree& grown);

}  // namespace tutti
