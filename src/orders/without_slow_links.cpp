/// Local search over ring orders.
#include <algorithm>
#include <array>

#include "orders/by_distance.hpp"

namespace tutti {

namespace {

class RingSearch {
 public:
  RingSearch(const Distances& distances, std::vector<Rank> ring, long evaluations)
      : distances_(distances),
        ring_(std::move(ring)),
        p_(static_cast<int>(ring_.size())),
        evaluations_(evaluations) {}

  std::vector<Rank> run() {
    const Rank first = ring_[0];
    bool moved = p_ > 3;
    while (moved && evaluations_ > 0) {
      moved = reverse_ranges();
      for (int count = 1; count <= 3 && count + 3 <= p_; ++count) moved |= move_neighbours(count);
    }
    std::rotate(ring_.begin(), std::ranges::find(ring_, first), ring_.end());
    return std::move(ring_);
  }

 private:
  [[nodiscard]] Rank at(int position) const { return ring_[index(position % p_)]; }
  double link(Rank a, Rank b) {
    --evaluations_;
    return std::max(distances_(a, b), distances_(b, a));
  }

  /// Compares descending link times. Every move makes the ring's sorted list of links smaller, so
  /// the search ends.
  template <std::size_t n>
  static bool improves(std::array<double, n> now, std::array<double, n> before) {
    std::ranges::sort(now, std::greater<>());
    std::ranges::sort(before, std::greater<>());
    return now < before;
  }

  /// Reverses the range between each two links of the ring if that improves these links.
  bool reverse_ranges() {
    bool moved = false;
    for (int i = 0; i + 1 < p_ && evaluations_ > 0; ++i) {
      for (int j = i + 2; j < p_; ++j) {
        if (j + 1 == p_ && i == 0) continue;  // the same link on both sides
        const Rank a = at(i), b = at(i + 1), c = at(j), d = at(j + 1);
        const std::array before = {link(a, b), link(c, d)};
        if (!improves({link(a, c), link(b, d)}, before)) continue;
        std::reverse(ring_.begin() + i + 1, ring_.begin() + j + 1);
        moved = true;
      }
    }
    return moved;
  }

  /// Tries to move each `count` neighbours between two other ranks, in either direction.
  bool move_neighbours(int count) {
    bool moved = false;
    for (int i = 0; i < p_ && evaluations_ > 0; ++i) {
      // move_last() moves the end of ring_.
      std::rotate(ring_.begin(), ring_.begin() + 1, ring_.end());
      moved |= move_last(count);
    }
    return moved;
  }

  bool move_last(int count) {
    const int rest = p_ - count;
    const Rank head = at(rest), tail = at(p_ - 1), before = at(rest - 1), after = at(0);
    const double into = link(before, head), out = link(tail, after), closed = link(before, after);
    for (int i = 0; i + 1 < rest; ++i) {
      const Rank left = at(i), right = at(i + 1);
      const std::array now = {into, out, link(left, right)};
      const bool forward = improves({closed, link(left, head), link(tail, right)}, now);
      if (!forward && !improves({closed, link(left, tail), link(head, right)}, now)) continue;
      if (!forward) std::reverse(ring_.begin() + rest, ring_.end());
      std::rotate(ring_.begin() + i + 1, ring_.begin() + rest, ring_.end());
      return true;
    }
    return false;
  }

  const Distances& distances_;
  std::vector<Rank> ring_;
  int p_;
  long evaluations_;
};

}  // namespace

std::vector<Rank> without_slow_links(const Distances& distances, std::vector<Rank> order,
                                     long evaluations) {
  return RingSearch(distances, std::move(order), evaluations).run();
}

}  // namespace tutti
