/// Which ranks share the memory of a node, and which of them sit close together there.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// Ranks 0..p-1 on nodes 0..n-1. Nodes are numbered by their lowest rank, and the ranks of a node
/// by their rank (`local`, from 0 on): whoever knows which ranks share a node numbers them alike.
class Nodes {
 public:
  /// Of one label for each rank, equal where ranks share a node; any integers. O(p log n).
  [[nodiscard]] static Nodes of(std::span<const int> labels);
  /// The same with ranks of a node in groups, such as those of a socket: another label for each
  /// rank, equal where two of a node belong together. A node of which a rank has a label below 0 is
  /// one group.
  [[nodiscard]] static Nodes of(std::span<const int> labels, std::span<const int> groups);
  /// Nodes of consecutive ranks, so many on each.
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
  /// Ranks of the largest node.
  [[nodiscard]] int most() const;
  /// All nodes have as many ranks.
  [[nodiscard]] bool even() const;
  /// Ranks of a node follow one another, so that the sequence of nodes is that of ranks.
  [[nodiscard]] bool in_rank_order() const;
  friend bool operator==(const Nodes&, const Nodes&) = default;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<int> node_;    ///< by rank
  std::vector<int> local_;   ///< by rank
  std::vector<Rank> ranks_;  ///< node by node
  std::vector<int> first_;   ///< by node, where its ranks begin; and the end
  std::vector<int> group_;   ///< by rank; empty: each node is one
};

/// How the ranks of a node are put into groups, for emulation and explanation.
struct Grouping {
  int number = 0;      ///< of the ranks of a group, or of groups; 0: none are made
  bool dealt = false;  ///< ranks are dealt out to `number` groups; else follow one another in them

  /// By the local rank; -1 where no groups are made.
  [[nodiscard]] int group_of(int local) const {
    if (number == 0) return -1;
    return dealt ? local % number : local / number;
  }
  friend bool operator==(const Grouping&, const Grouping&) = default;
};

/// Takes "/2" (groups of two ranks that follow one another) or "/round_robin:2" (two groups) off
/// the end of `text`. The error names what is wrong and what is accepted.
[[nodiscard]] Result<Grouping> take_grouping(std::string_view& text);

/// Reads "1,4,2,3,1" (ranks of each node) or "8x6" (nodes x ranks), or both mixed as in "2x4,3",
/// and after it how ranks are dealt out: ":block" (the default), ":round_robin" or ":shuffled".
/// then groups (take_grouping). The error names what is wrong and what is accepted.
[[nodiscard]] Result<Nodes> nodes_from(std::string_view text);

}  // namespace tutti
