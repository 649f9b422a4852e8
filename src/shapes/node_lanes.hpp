/// Rank arithmetic of nodes of equal size whose members carry lanes to other nodes.
#pragma once

#include <algorithm>

#include "core/types.hpp"

namespace tutti {

/// Nodes of k consecutive positions; the last may have fewer. Between two nodes there are as many
/// lanes as let each of k members carry one or more; a lane carries the blocks for every m-th
/// member of the other node.
class NodeLanes {
 public:
  NodeLanes(int p, int k) : p_(p), k_(std::min(k, p)), count_((p + k_ - 1) / k_) {
    if (count_ > 1) lanes_ = (k_ + count_ - 2) / (count_ - 1);
  }

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int lanes() const { return lanes_; }
  [[nodiscard]] int node_of(Position v) const { return v / k_; }
  [[nodiscard]] Position first(int node) const { return node * k_; }
  [[nodiscard]] int size(int node) const { return std::min(k_, p_ - first(node)); }
  /// The lane of the blocks that come from other nodes for v.
  [[nodiscard]] int lane_to(Position v) const { return v % k_ % lanes_; }
  /// The member of `node` that sends and receives on a lane to another node.
  [[nodiscard]] Position carrier(int node, int other, int lane) const {
    const long number = long{other < node ? other : other - 1} * lanes_ + lane;
    return first(node) + static_cast<int>(number % size(node));
  }

 private:
  int p_;
  int k_;
  int count_;
  int lanes_ = 1;
};

}  // namespace tutti
