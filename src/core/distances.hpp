/// The messages of a shape, the distances between ranks, which are the times of messages in
/// seconds, and the links that several messages share.
#pragma once

#include <array>
#include <cassert>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The messages of a shape for a model of rounds. All messages of a round are in flight at once;
/// the next round begins when the slowest has arrived.
struct Traffic {
  struct Message {
    Position from = 0;
    Position to = 0;
    Bytes bytes = 0;
    friend auto operator<=>(const Message&, const Message&) = default;
  };
  struct Round {
    int times = 1;  ///< consecutive repetitions of this round
    std::vector<Message> messages;
    friend bool operator==(const Round&, const Round&) = default;
  };
  int p = 1;
  std::vector<Round> rounds;
};

/// Two ranks; the sender of a message comes first.
using RankPair = std::pair<Rank, Rank>;

/// The time of a message of one size from each rank to each other rank. It may be asymmetric.
class Distances {
 public:
  /// All distances are 0.
  explicit Distances(int p) : p_(p), seconds_(index(p) * index(p), 0) {}

  /// From p * p values, row by row: the time from rank i to rank j is at i * p + j. Times must be
  /// above 0 off the diagonal, and 0 on it.
  Distances(int p, std::vector<double> seconds) : p_(p), seconds_(std::move(seconds)) {
    assert(seconds_.size() == index(p) * index(p));
  }

  [[nodiscard]] int size() const { return p_; }
  [[nodiscard]] double operator()(Rank from, Rank to) const { return seconds_[at(from, to)]; }
  void set(Rank from, Rank to, double seconds) { seconds_[at(from, to)] = seconds; }
  friend bool operator==(const Distances&, const Distances&) = default;

 private:
  [[nodiscard]] std::size_t at(Rank from, Rank to) const {
    assert(0 <= from && from < p_ && 0 <= to && to < p_);
    return index(from) * index(p_) + index(to);
  }

  int p_;
  std::vector<double> seconds_;
};

/// Distances measured with messages of `bytes` bytes.
struct MeasuredDistances {
  Bytes bytes = 1;
  Distances distances;
  friend bool operator==(const MeasuredDistances&, const MeasuredDistances&) = default;
};

/// The distance between two ranks for a short and a long message, in seconds.
struct MeasuredLink {
  Rank from = no_rank;
  Rank to = no_rank;
  std::array<double, 2> seconds{};
};

/// The time of messages of any size between ranks. Each pair has its own latency and time per byte
/// (Hockney).
class Links {
 public:
  /// From one measurement. Its ratio to latency + per_byte * s scales both numbers of a pair.
  Links(const MeasuredDistances& measured, double latency, double per_byte);
  /// From two measurements of the same ranks, `large` with more bytes: the line through both. The
  /// time per byte is 0 for a pair whose larger message was not slower.
  Links(const MeasuredDistances& small, const MeasuredDistances& large);

  [[nodiscard]] int size() const { return latency_.size(); }
  [[nodiscard]] double latency(Rank from, Rank to) const { return latency_(from, to); }
  [[nodiscard]] double per_byte(Rank from, Rank to) const { return per_byte_(from, to); }
  [[nodiscard]] double seconds(Rank from, Rank to, Bytes bytes) const {
    return latency_(from, to) + per_byte_(from, to) * static_cast<double>(bytes);
  }
  /// The distances at one size. O(p^2).
  [[nodiscard]] Distances at(Bytes bytes) const;

 private:
  Distances latency_;
  Distances per_byte_;
};

/// Groups of ranks, each with one link out and one link in, such as the cable of a node or the
/// uplink of a switch. Messages that use a link at the same time divide its rate.
struct SharedLinks {
  std::vector<int> group;        ///< by rank: 0, 1, ..
  std::vector<double> latency;   ///< by group: the minimum over its messages in or out; seconds
  std::vector<double> per_byte;  ///< by group: seconds; 0 if its links are not a known bottleneck
  friend bool operator==(const SharedLinks&, const SharedLinks&) = default;
};

/// The links between ranks: the time of a message alone, and the links that messages share.
struct Fabric {
  Links links;
  std::vector<SharedLinks> shared = {};  ///< by level, e.g. of nodes, then of switches

  /// Without shared links each message is as fast as alone.
  Fabric(Links alone, std::vector<SharedLinks> sharing = {})
      : links(std::move(alone)), shared(std::move(sharing)) {}
  [[nodiscard]] int size() const { return links.size(); }
};

}  // namespace tutti
