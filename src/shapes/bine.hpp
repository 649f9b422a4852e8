/// Rank arithmetic of Bine (binomial negabinary) trees and butterflies.
#pragma once

#include <bit>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// A Bine tree over positions 0..p-1 (De Sensi et al. 2025, section 3). A rank that holds the data
/// of a range of positions cuts the range in two halves. It sends to the mirror image of its own
/// position in the other half, and both continue in their halves. So every subtree is a range, and
/// both ends of a message are near the cut: with p = 2^s, children are 1, -1, 3, -5, 11, .. modulo
/// p away, where those of a binomial tree are 1, 2, 4, 8, 16, .. away.
///
/// The paper needs a power of two. Here halves of a range may differ by one position; the half with
/// the sender is the smaller one, unless the sender is in the middle, so that the mirror image
/// exists. ceil(log2 p) rounds for any p.
///
///     p = 11
///         7 -+- 4 -+- 1 -+- 2
///            |     |     +- 0
///            |     +- 5
///            |     +- 3
///            +- 8 --- 9 --- 10
///            +- 6
class BineTree {
 public:
  explicit BineTree(int p) : p_(p) {}

  /// The position of the root of the tree: that at which 0 stands among the p negabinary numbers of
  /// ceil(log2 p) digits, if p is a power of two.
  [[nodiscard]] Position root() const {
    const bool has_odd_digits = std::bit_width(static_cast<unsigned>(p_ - 1)) % 2 == 1;
    return static_cast<Position>(has_odd_digits ? p_ / 3L : 2L * p_ / 3);
  }

  /// -1 at the root. O(log p), as are the others.
  [[nodiscard]] Position parent(Position v) const { return at(v).parent; }
  [[nodiscard]] BlockRange subtree(Position v) const { return at(v).range; }
  /// Smallest subtrees first.
  [[nodiscard]] std::vector<Position> children(Position v) const {
    const std::vector<Position> largest_first = at(v).children;
    return {largest_first.rbegin(), largest_first.rend()};
  }

 private:
  struct Node {
    Position parent = -1;
    BlockRange range;
    std::vector<Position> children;  ///< largest subtrees first
  };
  [[nodiscard]] Node at(Position v) const {
    Node node{-1, {0, p_}, {}};
    Position holder = root();
    for (BlockRange range = node.range; range.count() > 1;) {
      const BlockIndex half = range.count() / 2;
      const BlockIndex cut = holder - range.begin < half ? range.begin + half : range.end - half;
      const auto mirror = static_cast<Position>(2 * cut - 1 - holder);
      const BlockRange left = {range.begin, cut};
      const BlockRange right = {cut, range.end};
      const BlockRange& others = holder < cut ? right : left;
      range = holder < cut ? left : right;
      if (holder == v) {
        node.children.push_back(mirror);
      } else if (others.contains(v)) {
        node = {holder, others, {}};
        holder = mirror;
        range = others;
      }
    }
    return node;
  }

  int p_;
};

/// A Bine butterfly over 2^s groups (De Sensi et al. 2025, section 3): in step j = 0, .., s - 1 an
/// even group exchanges with the one at distance d_j = (1 - (-2)^(j + 1)) / 3 = 1, -1, 3, -5, 11,
/// .. modulo 2^s, an odd group with the one at -d_j. The groups whose data a group has before step
/// j form a cyclic range of 2^j groups.
///
///     8 groups    0 has {0}    from 1: {0 1}    from 7: {6 7 0 1}    from 3: all
class BineButterfly {
 public:
  /// `groups` is a power of two.
  explicit BineButterfly(int groups) : groups_(groups) {}

  [[nodiscard]] int partner(int group, int step) const {
    // The sum of (-2)^i for i from 0 to the step.
    const int distance = (1 + (step % 2 == 0 ? 2 : -2) * (1 << step)) / 3;
    return wrapped(group % 2 == 0 ? group + distance : group - distance);
  }
  /// The first of the 2^step groups, modulo their number, whose data `group` has before `step`.
  [[nodiscard]] int first_held(int group, int step) const {
    // The numbers of `step` negabinary digits are -below, .., 2^step - 1 - below.
    const int below = ((1 << step) - (step % 2 == 0 ? 1 : 2)) / 3 * (step % 2 == 0 ? 2 : 1);
    return wrapped(group % 2 == 0 ? group - below : group + below + 1 - (1 << step));
  }

 private:
  [[nodiscard]] int wrapped(int group) const { return (group % groups_ + groups_) % groups_; }

  int groups_;
};

}  // namespace tutti
