/// Which ranks share the memory of a node.
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
  /// Ranks of the largest node.
  [[nodiscard]] int most() const;
  /// All nodes have as many ranks.
  [[nodiscard]] bool even() const;
  /// Ranks of a node follow one another, so that the sequence of nodes is that of ranks.
  [[nodiscard]] bool in_rank_order() const;

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  std::vector<int> node_;    ///< by rank
  std::vector<int> local_;   ///< by rank
  std::vector<Rank> ranks_;  ///< node by node
  std::vector<int> first_;   ///< by node, where its ranks begin; and the end
};

/// Reads "1,4,2,3,1" (ranks of each node) or "8x6" (nodes x ranks), or both mixed as in "2x4,3",
/// and after it how ranks are dealt out: ":block" (the default), ":round_robin" or ":shuffled".
/// The error names what is wrong and what is accepted.
[[nodiscard]] Result<Nodes> nodes_from(std::string_view text);

}  // namespace tutti
