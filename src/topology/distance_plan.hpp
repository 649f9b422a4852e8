/// Plans which pairs of ranks are measured, and derives the distances of the others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/distances.hpp"
#include "core/result.hpp"

namespace tutti {

/// Ranks in groups, groups in larger groups: nodes and switches, for example.
struct Hierarchy {
  int p = 1;
  /// By level, the finest first: the group of each rank, by any numbers. Groups of a level lie
  /// within groups of the next. Without levels every pair is measured.
  std::vector<std::vector<int>> levels = {};

  friend bool operator==(const Hierarchy&, const Hierarchy&) = default;
};

/// The same groups, numbered 0, 1, .. by their lowest ranks. O(p log p).
template <class Name>
[[nodiscard]] std::vector<int> numbered(const std::vector<Name>& names) {
  std::map<Name, int> numbers;
  std::vector<int> groups;
  for (const Name& name : names) {
    groups.push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

/// The text of an error in a hierarchy; empty if it is valid.
[[nodiscard]] std::string flaw_of(const Hierarchy& hierarchy);

/// All pairs that are measured, lower rank first, in chains: the pairs of a chain run one after the
/// other, so that none disturbs another. By level, the finest first, each group has a chain of all
/// pairs of its lowest ranks of groups below, or of its ranks, as its pairs share links. A rank in
/// chains of k1, k2, .. ranks is in (k1 - 1) + (k2 - 1) + .. <= p - 1 pairs. Groups of a level
/// share no links: their chains may run at once, after the level before. O(pairs).
[[nodiscard]] std::vector<std::vector<std::vector<RankPair>>> chains_to_measure(
    const Hierarchy& hierarchy);

/// The hierarchy of ranks on these nodes. Up to `max_for_all_pairs` ranks it has no levels: every
/// pair is measured (Bhowmik & Bodele 2019). With more ranks its levels are nodes and, if
/// `nodes_per_switch` is above 0, switches of as many consecutive nodes.
[[nodiscard]] Hierarchy hierarchy_to_measure(const std::vector<std::string>& nodes,
                                             int nodes_per_switch);
inline constexpr int max_for_all_pairs = 64;

/// A pair with its time, which counts for both directions unless the other one is listed too.
struct MeasuredPair {
  Rank from = 0;
  Rank to = 0;
  double seconds = 0;
};

/// The whole matrix: each pair gets the time of the pair that was measured for it, that of the
/// lowest ranks of the largest groups that hold only one of the two. The error names a missing
/// pair. O(p^2 log p).
[[nodiscard]] Result<Distances> expanded(const Hierarchy& hierarchy,
                                         const std::vector<MeasuredPair>& measured);

}  // namespace tutti
