/// Finds the classes of parts that a position receives by a search of paths from the root.
#include "shapes/circulant_broadcast.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// The smallest skip on the path from the root to `position`, which takes large skips first.
int own_class(const std::vector<int>& skips, Position position) {
  const auto above = std::ranges::upper_bound(skips, position);
  const int largest = static_cast<int>(above - skips.begin()) - 1;
  const Position rest = position - skips[index(largest)];
  return rest == 0 ? largest : own_class(skips, rest);
}

/// The classes that a position receives in the rounds of a phase.
///
/// Walks the paths from the root to positions below v + p, farthest first, in the graph of two
/// turns: a path that begins with the skip p leads to a position of this turn, any other one to a
/// position of the turn before. A path ends with the own class of its position. Round k takes the
/// first path that ends in its window (v + p - s_{k+1}, v + p - s_k], or else the farthest one
/// below. A class that was taken ends no other path, nor is it a part of one.
class PathSearch {
 public:
  PathSearch(const std::vector<int>& skips, Position position)
      : skips_(skips),
        rounds_(static_cast<int>(skips.size()) - 1),
        end_(position + skips.back()),
        latest_(end_),
        is_taken_(skips.size(), false) {
    const int own = own_class(skips, position);
    is_taken_[index(own)] = true;
    extend(0, rounds_);
    // The path of the skip p alone is the root's in this turn: what it sends is the own class.
    std::ranges::replace(taken_, rounds_, own);
  }

  [[nodiscard]] std::vector<int> taken() && { return std::move(taken_); }

 private:
  [[nodiscard]] int round() const { return static_cast<int>(taken_.size()); }
  [[nodiscard]] bool is_done() const { return round() == rounds_; }
  [[nodiscard]] bool is_in_reach(int place) const {
    return !is_done() && place <= end_ - skips_[index(round())] && place < latest_;
  }
  [[nodiscard]] bool is_in_window(int place) const {
    return is_in_reach(place) && place > end_ - skips_[index(round() + 1)];
  }

  /// Takes classes at the ends of paths that continue the one to `place` with skips up to
  /// `largest`.
  void extend(int place, int largest) {
    for (int skip = largest; skip >= 0 && !is_done(); --skip) {
      if (place > 0 && is_in_window(place)) return;
      const int next = place + skips_[index(skip)];
      if (is_taken_[index(skip)] || !is_in_reach(next)) continue;
      if (!is_in_window(next)) extend(next, skip - 1);
      if (is_in_reach(next)) {
        taken_.push_back(skip);
        latest_ = next;
        is_taken_[index(skip)] = true;
      }
    }
  }

  const std::vector<int>& skips_;
  int rounds_;
  int end_;
  int latest_;  ///< the place of the latest path taken: several paths may lead to one
  std::vector<bool> is_taken_;
  std::vector<int> taken_;  ///< by round
};

}  // namespace

CirculantBroadcast::CirculantBroadcast(int p, int parts)
    : parts_(parts), skips_(circulant_skips(p)) {
  const int q = phase_rounds();
  rounds_ = p == 1 ? 0 : parts - 1 + q;
  idle_ = p == 1 ? 0 : (q - rounds_ % q) % q;
}

int CirculantBroadcast::skip(int round) const {
  return skips_[index((round + idle_) % phase_rounds())];
}

int CirculantBroadcast::part_in(const Phase& phase, int round) const {
  const int q = phase_rounds();
  const int at = round + idle_;
  const int wanted = phase.classes[index(at % q)];
  return wanted + q * (at / q) - (wanted == phase.own ? 0 : q) - idle_;
}

CirculantBroadcast::Phase CirculantBroadcast::phase_of(Position position) const {
  if (position == 0 || rounds_ == 0) return {};
  Phase phase{PathSearch(skips_, position).taken(), own_class(skips_, position), rounds_};
  // Numbers beyond the last part stand for it. It comes in one of the last two phases.
  for (int round = rounds_ - 1; round >= std::max(0, rounds_ - 2 * phase_rounds()); --round) {
    if (part_in(phase, round) >= parts_ - 1) phase.last = round;
  }
  return phase;
}

int CirculantBroadcast::received_in(const Phase& phase, int round) const {
  if (phase.classes.empty()) return -1;
  const int part = part_in(phase, round);
  if (part < 0 || (part >= parts_ - 1 && round != phase.last)) return -1;
  return std::min(part, parts_ - 1);
}

std::vector<int> CirculantBroadcast::received(Position position) const {
  const Phase phase = phase_of(position);
  std::vector<int> parts;
  for (int round = 0; round < rounds_; ++round) parts.push_back(received_in(phase, round));
  return parts;
}

std::vector<int> CirculantBroadcast::sent(Position position) const {
  const int q = phase_rounds();
  std::vector<int> parts(index(rounds_), -1);
  for (int first = 0; first < std::min(q, rounds_); ++first) {
    const Phase phase = phase_of((position + skip(first)) % skips_.back());
    for (int round = first; round < rounds_; round += q) {
      parts[index(round)] = received_in(phase, round);
    }
  }
  return parts;
}

}  // namespace tutti
