/// Rank arithmetic of a scatter in which early ranks deliver to the late ones.
#pragma once

#include <algorithm>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A tree of two levels over positions 0..p-1 for `late` late ranks. Each of the other ranks, the
/// root first, heads a group: its own position, then those of the late ranks that it delivers to.
/// The late ranks are assigned round-robin, beginning after the root, because the root has most to
/// send before. So every subtree is a range of positions.
///
///     p = 7, late = 3
///         0 -+- 1 --- 2
///            +- 3 --- 4
///            +- 5 --- 6
class RelayTree {
 public:
  /// `late` is at most p - 1; below 0 it means half of the ranks.
  RelayTree(int p, int late)
      : p_(p),
        late_(std::min(late < 0 ? p / 2 : late, p - 1)),
        groups_(p - late_),
        each_(late_ / groups_),
        more_(late_ % groups_) {}

  /// Positions in the sequence in which ranks take them by arrival: the heads of groups except the
  /// root, then the late positions.
  [[nodiscard]] std::vector<Position> sequence() const {
    std::vector<Position> sequence;
    for (int group = 1; group < groups_; ++group) sequence.push_back(head(group));
    for (int i = 0; i < late_; ++i) {
      sequence.push_back(head((i + 1) % groups_) + 1 + i / groups_);
    }
    return sequence;
  }

  [[nodiscard]] Position root() const { return 0; }
  [[nodiscard]] Position parent(Position v) const {
    const Position head = head_of(v);
    return head == v ? 0 : head;
  }

  [[nodiscard]] BlockRange subtree(Position v) const {
    if (v == 0) return {0, p_};
    return {v, head_of(v) == v ? v + size(group_of(v)) : v + 1};
  }

  /// Hops from v to the root.
  [[nodiscard]] int depth(Position v) const { return v == 0 ? 0 : parent(v) == 0 ? 1 : 2; }

  /// The children of v, last served first: at a head the late ranks of its group, then at the root
  /// the heads of groups.
  [[nodiscard]] std::vector<Position> children(Position v) const {
    std::vector<Position> children;
    if (head_of(v) != v) return children;
    for (int i = size(group_of(v)) - 1; i >= 1; --i) children.push_back(v + i);
    for (int group = groups_ - 1; v == 0 && group >= 1; --group) children.push_back(head(group));
    return children;
  }

 private:
  [[nodiscard]] int size(int group) const {
    return 1 + each_ + (1 <= group && group <= more_ ? 1 : 0);
  }
  [[nodiscard]] Position head(int group) const {
    return group * (1 + each_) + std::clamp(group - 1, 0, more_);
  }
  [[nodiscard]] int group_of(Position v) const {
    // Group 0 and the groups after the larger ones have 1 + each positions.
    const Position first_large = 1 + each_;
    const Position behind = first_large + more_ * (2 + each_);
    if (v < first_large) return 0;
    if (v < behind) return 1 + (v - first_large) / (2 + each_);
    return 1 + more_ + (v - behind) / (1 + each_);
  }
  [[nodiscard]] Position head_of(Position v) const { return head(group_of(v)); }

  int p_;
  int late_;
  int groups_;
  int each_;  ///< late ranks in every group
  int more_;  ///< number of groups, from 1 on, with one more
};

}  // namespace tutti
