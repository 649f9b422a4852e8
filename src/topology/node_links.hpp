/// Links between nodes, and which pairs of nodes are measured to know them all.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/distances.hpp"

namespace tutti {

/// The measured links between nodes 0 .. n - 1, alike in both directions. The link of a node to
/// itself is that between its ranks.
class NodeLinks {
 public:
  using Seconds = decltype(MeasuredLink::seconds);

  explicit NodeLinks(int nodes) : nodes_(nodes) {}

  [[nodiscard]] int nodes() const { return nodes_; }
  void set(int a, int b, const Seconds& seconds) { all_[std::minmax(a, b)] = seconds; }
  /// Replaces what `newer`, of the same nodes, has measured too.
  void add(const NodeLinks& newer);
  /// Null: not measured. O(log links).
  [[nodiscard]] const Seconds* find(int a, int b) const;
  /// By pairs of nodes, the lower one first.
  [[nodiscard]] const std::map<RankPair, Seconds>& all() const { return all_; }
  friend bool operator==(const NodeLinks&, const NodeLinks&) = default;

 private:
  int nodes_;
  std::map<RankPair, Seconds> all_;
};

/// The pairs of nodes to be measured next, all with the same first node; none if what is known
/// stands for all links. Two links are alike if long messages differ by less than `min_step` and
/// short ones by less than 1.5 times. All links of one node are measured, then those of the next
/// one, from node 0 on. Nodes are a group while their links to each of these are alike; a measured
/// node stays with those nearest to it. A group needs no more once two of its nodes are measured.
/// So g groups of nodes at the same place take the links of some 2 g nodes, not all n (n - 1) / 2.
/// Nodes that are near each other stay hidden where the first two of their group have none near
/// them. O(n g log n).
[[nodiscard]] std::vector<RankPair> next_pairs(const NodeLinks& links);

/// The links of all pairs of nodes, where next_pairs() has none left. One that was not measured
/// takes as long as the shorter of two that were: between either node and a measured node of the
/// other's group. O(n^2 log n).
[[nodiscard]] NodeLinks completed(const NodeLinks& links);

/// Are all measured links between nodes alike? O(links).
[[nodiscard]] bool are_alike(const NodeLinks& links);

}  // namespace tutti
