/// How sizes travel along a tree whose shape every rank can compute.
#pragma once

#include <limits>
#include <vector>

#include "protocols/protocol.hpp"

namespace tutti {

/// A rank's neighbours in such a tree.
struct TreeEdges {
  Rank parent = no_rank;       ///< no_rank at the root
  std::vector<Rank> children;  ///< in any sequence, alike in every call
};

/// Knowledge `subtree_sizes`: every rank learns the sizes of its children's subtrees, from local
/// sizes only, by one word from each child to its parent: depth of the tree dependent steps.
class SubtreeSizes final : public Protocol {
 public:
  /// What is above `heaviest` does not pass through a parent that has a parent: it counts there no
  /// more.
  SubtreeSizes(TreeEdges edges, Bytes own, Bytes heaviest = std::numeric_limits<Bytes>::max())
      : edges_(std::move(edges)), total_(own), heaviest_(heaviest) {}
  bool next(Exchange& exchange) override;

  /// In the sequence of the edges' children, once `next` has returned false.
  [[nodiscard]] const std::vector<Bytes>& children() const { return children_; }

 private:
  enum class Phase : std::uint8_t { begin, receive, send };
  TreeEdges edges_;
  Bytes total_;
  Bytes heaviest_;
  Phase phase_ = Phase::begin;
  std::vector<Bytes> children_;
};

/// Knowledge `all_sizes`: the root, which knows all sizes, passes them down the tree: p words an
/// edge, depth of the tree dependent steps.
class AllSizes final : public Protocol {
 public:
  /// `sizes` counts at the root alone; elsewhere only its length, p, does.
  AllSizes(TreeEdges edges, std::vector<Bytes> sizes)
      : edges_(std::move(edges)), sizes_(std::move(sizes)) {}
  bool next(Exchange& exchange) override;

  /// By rank, once `next` has returned false.
  [[nodiscard]] const std::vector<Bytes>& sizes() const { return sizes_; }

 private:
  enum class Phase : std::uint8_t { begin, receive, send };
  TreeEdges edges_;
  std::vector<Bytes> sizes_;
  Phase phase_ = Phase::begin;
};

}  // namespace tutti
