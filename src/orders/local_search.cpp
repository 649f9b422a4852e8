/// Swaps ranks and updates the times of the rounds incrementally; reverses and moves parts of
/// rings.
#include <algorithm>
#include <array>
#include <functional>

#include "orders/orders.hpp"

namespace tutti {

namespace {

/// Relative gains below this are rounding errors.
constexpr double rounding = 1e-9;

/// The bytes on each link out of, and into, each group of a fabric.
class LinkLoads {
 public:
  explicit LinkLoads(const Fabric& fabric) : fabric_(&fabric) {
    for (const SharedLinks& level : fabric.shared) {
      loads_.emplace_back(level.per_byte.size());
      links_ += static_cast<long>(level.per_byte.size());
    }
  }

  /// Adds a message of `bytes` bytes; negative bytes remove it. O(levels).
  void add(RankPair ends, Bytes bytes) {
    for (std::size_t level = 0; level < loads_.size(); ++level) {
      const int from = group(level, ends.first);
      const int to = group(level, ends.second);
      if (from == to) return;  // a group is inside one group of the next level
      loads_[level][index(from)].out += bytes;
      loads_[level][index(to)].in += bytes;
    }
  }

  /// The link that takes longest for its load.
  struct Slowest {
    double seconds = 0;
    std::size_t level = 0;
    int group = -1;  ///< -1: no link is shared
    bool out = true;
  };
  /// O(links).
  [[nodiscard]] Slowest slowest() const {
    Slowest slowest;
    for (std::size_t level = 0; level < loads_.size(); ++level) {
      const SharedLinks& links = fabric_->shared[level];
      for (std::size_t group = 0; group < loads_[level].size(); ++group) {
        const auto [out, in] = loads_[level][group];
        const Bytes bytes = std::max(out, in);
        if (bytes == 0 || links.per_byte[group] == 0) continue;
        const double seconds =
            links.latency[group] + static_cast<double>(bytes) * links.per_byte[group];
        if (seconds <= slowest.seconds) continue;
        slowest = {seconds, level, static_cast<int>(group), out >= in};
      }
    }
    return slowest;
  }
  /// True if a message between these ranks uses `link`.
  [[nodiscard]] bool takes(RankPair ends, const Slowest& link) const {
    if (link.group < 0) return false;
    const int from = group(link.level, ends.first);
    const int to = group(link.level, ends.second);
    return from != to && (link.out ? from : to) == link.group;
  }
  /// The number of shared links.
  [[nodiscard]] long links() const { return links_; }

 private:
  [[nodiscard]] int group(std::size_t level, Rank rank) const {
    return fabric_->shared[level].group[index(rank)];
  }

  struct Load {
    Bytes out = 0;
    Bytes in = 0;
  };
  const Fabric* fabric_;
  std::vector<std::vector<Load>> loads_;  ///< by level and group
  long links_ = 0;
};

/// An order and its modelled times.
class LocalSearch {
 public:
  LocalSearch(std::vector<Rank> order, const Traffic& traffic, const Fabric& fabric,
              long evaluations)
      : order_(std::move(order)), fabric_(fabric), evaluations_(evaluations), own_(order_.size()) {
    for (const Traffic::Round& round : traffic.rounds) {
      if (round.messages.empty()) continue;
      const int begin = static_cast<int>(messages_.size());
      for (const Traffic::Message& message : round.messages) {
        const auto id = static_cast<int>(messages_.size());
        own_[index(message.from)].push_back(id);
        own_[index(message.to)].push_back(id);
        messages_.push_back({message, static_cast<int>(rounds_.size()), 0});
      }
      const int end = static_cast<int>(messages_.size());
      rounds_.push_back({static_cast<double>(round.times), begin, end, begin, LinkLoads(fabric)});
    }
    for (Timed& timed : messages_) add(timed);
    for (Round& round : rounds_) find_slowest(round);
  }

  /// Of all rounds, and of all messages, each timed alone.
  struct Seconds {
    double rounds = 0;
    double messages = 0;

    [[nodiscard]] bool gains_over(const Seconds& other) const {
      if (rounds < other.rounds * (1 - rounding)) return true;
      return rounds <= other.rounds && messages < other.messages * (1 - rounding);
    }
  };

  /// O(rounds * links).
  [[nodiscard]] Seconds now() {
    Seconds now{0, in_all_};
    for (const Round& round : rounds_) {
      evaluations_ -= 1 + round.loads.links();
      const double alone = messages_[index(round.slowest)].seconds;
      now.rounds += round.times * std::max(alone, round.loads.slowest().seconds);
    }
    return now;
  }

  std::vector<Rank> run(Position first) {
    bool gains = true;
    while (gains && evaluations_ > 0) {
      const Swap best = best_swap(first);
      gains = best.a >= 0;
      if (gains) swap(best);
    }
    return std::move(order_);
  }

 private:
  struct Timed {
    Traffic::Message message;
    int round = 0;
    double seconds = 0;
  };
  struct Round {
    double times = 1;
    int begin = 0;  ///< its messages: [begin, end)
    int end = 0;
    int slowest = 0;  ///< the slowest of its messages, each timed alone
    LinkLoads loads;
  };
  struct Swap {
    Position a = -1;
    Position b = -1;
  };
  [[nodiscard]] RankPair ranks_of(const Traffic::Message& message) const {
    return {order_[index(message.from)], order_[index(message.to)]};
  }

  void add(Timed& timed) {
    --evaluations_;
    const auto [from, to] = ranks_of(timed.message);
    timed.seconds = fabric_.links.seconds(from, to, timed.message.bytes);
    in_all_ += timed.seconds;
    rounds_[index(timed.round)].loads.add({from, to}, timed.message.bytes);
  }

  void remove(const Timed& timed) {
    in_all_ -= timed.seconds;
    rounds_[index(timed.round)].loads.add(ranks_of(timed.message), -timed.message.bytes);
  }

  void find_slowest(Round& round) {
    evaluations_ -= round.end - round.begin;
    const auto begin = messages_.begin();
    round.slowest = static_cast<int>(
        std::ranges::max_element(begin + round.begin, begin + round.end, {}, &Timed::seconds) -
        begin);
  }

  /// Calls visit(id) once for each message that begins or ends at one of the two positions.
  template <class Visit>
  void for_each_message(Swap swapped, Visit visit) {
    for (const int id : own_[index(swapped.a)]) visit(id);
    for (const int id : own_[index(swapped.b)]) {
      const Traffic::Message& message = messages_[index(id)].message;
      if (message.from != swapped.a && message.to != swapped.a) visit(id);
    }
  }

  void swap(Swap swapped) {
    for_each_message(swapped, [&](int id) { remove(messages_[index(id)]); });
    std::swap(order_[index(swapped.a)], order_[index(swapped.b)]);
    for_each_message(swapped, [&](int id) { add(messages_[index(id)]); });
    for_each_message(swapped, [&](int id) {
      Round& round = rounds_[index(messages_[index(id)].round)];
      const Traffic::Message& slowest = messages_[index(round.slowest)].message;
      const bool stands = slowest.from != swapped.a && slowest.from != swapped.b &&
                          slowest.to != swapped.a && slowest.to != swapped.b;
      if (!stands) {
        find_slowest(round);
      } else if (messages_[index(id)].seconds > messages_[index(round.slowest)].seconds) {
        round.slowest = id;
      }
    });
  }

  /// The positions of the messages that the rounds wait for, without duplicates.
  [[nodiscard]] std::vector<Position> slowest_ends(Position first) const {
    std::vector<Position> ends;
    const auto add = [&](const Traffic::Message& message) {
      for (const Position end : {message.from, message.to}) {
        if (end >= first) ends.push_back(end);
      }
    };
    for (const Round& round : rounds_) {
      const LinkLoads::Slowest link = round.loads.slowest();
      if (link.seconds <= messages_[index(round.slowest)].seconds) {
        add(messages_[index(round.slowest)].message);
        continue;
      }
      for (int id = round.begin; id < round.end; ++id) {
        const Traffic::Message& message = messages_[index(id)].message;
        if (round.loads.takes(ranks_of(message), link)) add(message);
      }
    }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
  }

  /// The swap with the largest gain; {-1, -1} if none gains.
  Swap best_swap(Position first) {
    Seconds best = now();
    Swap found;
    for (const Position a : slowest_ends(first)) {
      for (Position b = first; b < static_cast<Position>(order_.size()) && evaluations_ > 0; ++b) {
        if (a == b) continue;
        swap({a, b});
        const Seconds after = now();
        swap({a, b});
        if (!after.gains_over(best)) continue;
        best = after;
        found = {a, b};
      }
    }
    return found;
  }

  std::vector<Rank> order_;
  const Fabric& fabric_;
  long evaluations_;
  std::vector<Timed> messages_;  ///< by round
  std::vector<Round> rounds_;
  std::vector<std::vector<int>> own_;  ///< by position: its messages
  double in_all_ = 0;                  ///< seconds of all messages
};

/// A ring and the moves that improve its links.
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

double rounds_seconds(const Traffic& traffic, const Fabric& fabric,
                      const std::vector<Rank>& order) {
  return LocalSearch(order, traffic, fabric, 0).now().rounds;
}

std::vector<Rank> local_search(std::vector<Rank> order, const Traffic& traffic,
                               const Fabric& fabric, bool keep_first, long evaluations) {
  return LocalSearch(std::move(order), traffic, fabric, evaluations).run(keep_first ? 1 : 0);
}

std::vector<Rank> without_slow_links(const Distances& distances, std::vector<Rank> order,
                                     long evaluations) {
  return RingSearch(distances, std::move(order), evaluations).run();
}

}  // namespace tutti
