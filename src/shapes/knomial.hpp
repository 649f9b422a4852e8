/// Rank arithmetic of k-nomial trees; k = 2 is the binomial tree.
#pragma once

#include <algorithm>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The k-nomial tree over positions 0..p-1, the root at 0. Position v's parent is v without
/// its lowest nonzero digit in base k, so every subtree is a range of positions.
///
///     p = 11, k = 3
///         0 -+- 1
///            +- 2
///            +- 3 -+- 4
///            |     +- 5
///            +- 6 -+- 7
///            |     +- 8
///            +- 9 --- 10
class Knomial {
 public:
  Knomial(int p, int k) : p_(p), k_(k) {}

  [[nodiscard]] Position root() const { return 0; }
  [[nodiscard]] Position parent(Position v) const {
    return static_cast<Position>(v - v % (span(v) * k_));
  }

  /// The subtree of v: [v, v + k^t) cut at p, where t is the number of trailing zero digits.
  [[nodiscard]] BlockRange subtree(Position v) const {
    return {v, v == 0 ? p_ : static_cast<Position>(std::min<long>(p_, v + span(v)))};
  }

  /// Hops from v to the root: the number of nonzero digits.
  [[nodiscard]] int depth(Position v) const {
    int digits = 0;
    for (; v > 0; v /= k_) digits += v % k_ != 0 ? 1 : 0;
    return digits;
  }

  /// The children of v, smallest subtrees first.
  [[nodiscard]] std::vector<Position> children(Position v) const {
    std::vector<Position> children;
    const long top = v == 0 ? p_ : span(v);
    for (long step = 1; step < top; step *= k_) {
      for (int digit = 1; digit < k_ && v + digit * step < p_; ++digit) {
        children.push_back(static_cast<Position>(v + digit * step));
      }
    }
    return children;
  }

 private:
  /// k^t, where t is the number of trailing zero digits of v > 0.
  [[nodiscard]] long span(Position v) const {
    long span = 1;
    while (v % (span * k_) == 0) span *= k_;
    return span;
  }

  int p_;
  int k_;
};

}  // namespace tutti
