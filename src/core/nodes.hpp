/// The mapping of ranks to nodes, and to groups inside nodes; emulated nodes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// Ranks 0..p-1 on nodes 0..n-1. Nodes are numbered by their lowest rank, and the ranks of a node
/// from 0 on in ascending order (`local`). So all ranks derive the same numbers.
class Nodes {
 public:
  /// From one label per rank, any integer; ranks with equal labels share a node. O(p log n).
  [[nodiscard]] static Nodes of(std::span<const int> labels);
  /// The same with groups inside nodes, such as sockets. Ranks of a node with equal labels in
  /// `groups` form a group; a node is a single group if one of its ranks has a label below 0.
  [[nodiscard]] static Nodes of(std::span<const int> labels, std::span<const int> groups);
  /// Nodes of consecutive ranks, `sizes[node]` on each.
  [[nodiscard]] static Nodes consecutive(std::span<const int> sizes);

  [[nodiscard]] int p() const { return static_cast<int>(node_.size()); }
  [[nodiscard]] int count() const { return static_cast<int>(first_.size()) - 1; }
  [[nodiscard]] int node_of(Rank rank) const { return node_[index(rank)]; }
  [[nodiscard]] int local_of(Rank rank) const { return local_[index(rank)]; }
  [[nodiscard]] int size(int node) const { return first_[index(node) + 1] - first_[index(node)]; }
  [[nodiscard]] Rank rank_at(int node, int local) const {
    return ranks_[index(first_[index(node)] + local)];
  }
  /// The ranks of a node, ascending.
  [[nodiscard]] std::span<const Rank> ranks(int node) const {
    return {ranks_.data() + first_[index(node)], index(size(node))};
  }
  /// The local ranks of each group of a node, ascending; groups by their last one.
  [[nodiscard]] std::vector<std::vector<int>> groups(int node) const;
  /// The number of ranks on the largest node.
  [[nodiscard]] int most() const;
  /// True if all nodes have equally many ranks.
  [[nodiscard]] bool even() const;
  /// True if each node has consecutive ranks; nodes then ascend with their ranks.
  [[nodiscard]] bool in_rank_order() const;
  friend bool operator==(const Nodes&, const Nodes&) = default;

 private:
  std::vector<int> node_;    ///< by rank
  std::vector<int> local_;   ///< by rank
  std::vector<Rank> ranks_;  ///< node by node
  std::vector<int> first_;   ///< by node: the index of its first rank in ranks_; then the end
  std::vector<int> group_;   ///< by rank; empty: each node is one group
};

/// The division of each node's ranks into groups, for emulation and explanation.
struct Grouping {
  int number = 0;      ///< ranks per group, or groups if `dealt`; 0: no groups
  bool dealt = false;  ///< round-robin over `number` groups; else groups of consecutive ranks

  /// The group of a local rank; -1 if there are no groups.
  [[nodiscard]] int group_of(int local) const {
    if (number == 0) return -1;
    return dealt ? local % number : local / number;
  }
  friend bool operator==(const Grouping&, const Grouping&) = default;
};

/// Removes "/2" (groups of two consecutive ranks) or "/round_robin:2" (two groups) from the end of
/// `text`. The error names the invalid text and the accepted forms.
[[nodiscard]] Result<Grouping> take_grouping(std::string_view& text);

/// Reads "1,4,2,3,1" (ranks of each node), "8x6" (nodes x ranks) or a mixture as in "2x4,3", then
/// the mapping, ":block" (the default), ":round_robin" or ":shuffled", then groups (see
/// take_grouping). The error names the invalid text and the accepted forms.
[[nodiscard]] Result<Nodes> nodes_from(std::string_view text);

/// The assignment of world ranks to emulated nodes on one machine, for tests and measurements, from
/// the setting TUTTI_NODE. Emulation splits real nodes and never joins them.
class EmulatedNodes {
 public:
  /// The emulated node of a world rank, from 0. Local, O(1).
  [[nodiscard]] int node_of(Rank rank) const { return location_of(rank).node; }
  /// The group of a world rank on its emulated node; -1 if none are emulated.
  [[nodiscard]] int group_of(Rank rank) const {
    return grouping_.group_of(location_of(rank).local);
  }
  friend bool operator==(const EmulatedNodes&, const EmulatedNodes&) = default;

 private:
  friend Result<EmulatedNodes> emulated_nodes(std::string_view text);
  struct Location {
    int node;
    int local;
  };
  [[nodiscard]] Location location_of(Rank rank) const;

  Nodes listed_;   ///< nodes of the first ranks; the list repeats on further nodes
  int dealt_ = 0;  ///< nodes of a round-robin mapping; 0: `listed_` applies
  Grouping grouping_;
};

/// Parses the notation of nodes_from(), for any number of ranks: the list repeats, so `3` means
/// nodes of 3 consecutive ranks. Also accepts `round_robin:5` (rank r on node r mod 5). Groups may
/// follow. The error lists the accepted notations.
[[nodiscard]] Result<EmulatedNodes> emulated_nodes(std::string_view text);

}  // namespace tutti
