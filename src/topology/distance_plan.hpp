/// Which pairs of ranks are measured, and what is known of the others.
#pragma once

#include <string>
#include <vector>

#include "core/distances.hpp"

namespace tutti {

/// Ranks in groups, groups in larger groups: nodes and switches, for example.
struct Hierarchy {
  int p = 1;
  /// By level, the finest first: the group of each rank, any numbers. Groups of a level lie within
  /// groups of the next. No level: every pair is measured.
  std::vector<std::vector<int>> levels = {};

  friend bool operator==(const Hierarchy&, const Hierarchy&) = default;
};

/// What is wrong with a hierarchy; empty if nothing is.
[[nodiscard]] std::string flaw_of(const Hierarchy& hierarchy);

/// The pair that is measured for two different ranks: the lowest ranks of the largest groups that
/// hold only one of the two, or where they share a finest group, themselves. O(levels) after O(p).
class Representatives {
 public:
  explicit Representatives(const Hierarchy& hierarchy);
  [[nodiscard]] RankPair of(Rank a, Rank b) const;

 private:
  const Hierarchy& hierarchy_;
  std::vector<std::vector<Rank>> lowest_;  ///< by level and rank: the lowest rank of its group
};

/// All pairs that are measured, lower rank first, in rounds in which no rank is in two: a
/// round-robin tournament in each finest group, all groups at once, then one of the lowest ranks
/// of groups in each group of the next level, and so on. So a rank takes part in at most p - 1
/// pairs, and one that represents groups of k1, k2, .. in k1 + k2 + .. less one each. Without
/// levels there are p - 1 rounds, p where p is odd. O(pairs).
[[nodiscard]] std::vector<std::vector<RankPair>> rounds_to_measure(const Hierarchy& hierarchy);

/// The same pairs one after the other, so that none disturbs another: by level, the finest first, a
/// chain for each group whose pairs share links. The chains of a level are of ranks within groups
/// that share no links, and may run at once; a level begins when the one before is over. O(pairs).
[[nodiscard]] std::vector<std::vector<std::vector<RankPair>>> chains_to_measure(
    const Hierarchy& hierarchy);

/// The hierarchy of ranks that are on these nodes: none up to `max_for_all_pairs` ranks, so that
/// every pair is measured (Bhowmik & Bodele 2019); beyond them nodes, and where
/// `nodes_per_switch` is above 0, as many nodes in a row at each switch.
[[nodiscard]] Hierarchy hierarchy_to_measure(const std::vector<std::string>& nodes,
                                             int nodes_per_switch);
inline constexpr int max_for_all_pairs = 64;

/// A pair with its seconds; they count for both ways unless the other way is listed too.
struct MeasuredPair {
  Rank from = 0;
  Rank to = 0;
  double seconds = 0;
};

/// The whole matrix: each pair takes the time of the pair that was measured for it. O(p^2). The
/// error names a pair that is missing or a time that is none.
[[nodiscard]] Result<Distances> expanded(const Hierarchy& hierarchy,
                                         const std::vector<MeasuredPair>& measured);

}  // namespace tutti
