/// The links between ranks, and which of them several messages share.
#pragma once

#include <utility>
#include <vector>

#include "core/distances.hpp"

namespace tutti {

/// Groups of ranks of which each has one way out and one way in, such as the cable of a node or
/// the uplink of a switch: messages that take it at once divide its rate.
struct SharedWays {
  std::vector<int> group;        ///< by rank: 0, 1, ..
  std::vector<double> latency;   ///< by group: the least of any message over its ways; seconds
  std::vector<double> per_byte;  ///< by group: seconds; 0 where its ways are not known to be narrow
  friend bool operator==(const SharedWays&, const SharedWays&) = default;
};

/// What messages between ranks take when they are alone, and when they are not.
struct Fabric {
  Links links;
  std::vector<SharedWays> ways = {};  ///< by level, e.g. of nodes, then of switches

  /// Nothing is shared: each message is as fast as alone.
  Fabric(Links alone) : links(std::move(alone)) {}
  Fabric(Links alone, std::vector<SharedWays> shared)
      : links(std::move(alone)), ways(std::move(shared)) {}
  [[nodiscard]] int size() const { return links.size(); }
};

}  // namespace tutti
