/// Positions folded into a power of two of groups, for shapes that need one.
#pragma once

#include <bit>

#include "core/types.hpp"

namespace tutti {

/// Positions 0..p-1 in 2^k groups, where 2^k is the largest power of two up to p. With p = 2^k + e
/// the first e groups are the pairs {2i, 2i + 1}, the others single positions. The first position
/// of a group leads it. Groups are ascending ranges, so neighbours combine in the order of ranks.
///
///     p = 6    groups {0 1} {2 3} {4} {5}
class Folded {
 public:
  explicit Folded(int p) : p_(p) {
    while (2 * groups_ <= p) groups_ *= 2;
    pairs_ = p - groups_;
  }

  [[nodiscard]] int groups() const { return groups_; }
  /// log2 of their number.
  [[nodiscard]] int steps() const { return std::countr_zero(static_cast<unsigned>(groups_)); }
  [[nodiscard]] int group_of(Position v) const { return v < 2 * pairs_ ? v / 2 : v - pairs_; }
  /// The positions of `count` groups from `first` on, modulo the number of groups; the end may be
  /// above p.
  [[nodiscard]] BlockRange cyclic(int first, int count) const {
    const int last = first + count;
    return {leader(first), last <= groups_ ? leader(last) : leader(last - groups_) + p_};
  }
  [[nodiscard]] Position leader(int group) const {
    return group < pairs_ ? 2 * group : group + pairs_;
  }
  [[nodiscard]] bool leads(Position v) const { return v >= 2 * pairs_ || v % 2 == 0; }
  /// The other position of the pair; -1 for a single position.
  [[nodiscard]] Position other(Position v) const { return v < 2 * pairs_ ? v ^ 1 : -1; }

 private:
  int p_;
  int groups_ = 1;
  int pairs_ = 0;
};

}  // namespace tutti
