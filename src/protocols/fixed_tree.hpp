/// Protocols that pass sizes along a tree whose shape every rank can compute.
#pragma once

#include <limits>
#include <vector>

#include "protocols/protocol.hpp"

namespace tutti {

/// A rank's neighbours in such a tree.
struct TreeEdges {
  Rank parent = no_rank;       ///< no_rank at the root
  std::vector<Rank> children;  ///< in any sequence, but alike in every call
};

/// Knowledge `subtree_sizes`: every rank learns the sizes of its children's subtrees from local
/// sizes alone. Each child sends its parent 1 word; dependent steps: the depth of the tree.
class SubtreeSizes final : public Protocol {
 public:
  /// A parent other than the root does not add a child's subtree above `heaviest` bytes to its own
  /// size, because such a subtree does not pass through it.
  SubtreeSizes(TreeEdges edges, Bytes own, Bytes heaviest = std::numeric_limits<Bytes>::max())
      : edges_(std::move(edges)), total_(own), heaviest_(heaviest) {}
  bool next(Exchange& exchange) override;

  /// In the sequence of `edges.children`. Valid once `next` has returned false.
  [[nodiscard]] const std::vector<Bytes>& children() const { return children_; }

 private:
  enum class Phase : std::uint8_t { begin, receive, send };
  TreeEdges edges_;
  Bytes total_;
  Bytes heaviest_;
  Phase phase_ = Phase::begin;
  std::vector<Bytes> children_;
};

/// Knowledge `all_sizes`: the root, which knows all sizes, passes them down the tree. Each edge
/// carries p words; dependent steps: the depth of the tree.
class AllSizes final : public Protocol {
 public:
  /// `sizes` is significant only at the root; the others use its length, p.
  AllSizes(TreeEdges edges, std::vector<Bytes> sizes)
      : edges_(std::move(edges)), sizes_(std::move(sizes)) {}
  bool next(Exchange& exchange) override;

  /// By rank. Valid once `next` has returned false.
  [[nodiscard]] const std::vector<Bytes>& sizes() const { return sizes_; }

 private:
  enum class Phase : std::uint8_t { begin, receive, send };
  TreeEdges edges_;
  std::vector<Bytes> sizes_;
  Phase phase_ = Phase::begin;
};

}  // namespace tutti
