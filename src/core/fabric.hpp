/// The links between ranks, and which of them several messages share.
#pragma once

#include <utility>
#include <vector>

#include "core/distances.hpp"

namespace tutti {

/// Groups of ranks of which each has one link out and one link in, such as the cable of a node or
/// the uplink of a switch: messages that take it at once divide its rate.
struct SharedLinks {
  std::vector<int> group;        ///< by rank: 0, 1, ..
  std::vector<double> latency;   ///< by group: the least of any message over its links; seconds
  std::vector<double> per_byte;  ///< by group: seconds; 0 where its links are no known bottleneck
  friend bool operator==(const SharedLinks&, const SharedLinks&) = default;
};

/// What messages between ranks take when they are alone, and when they are not.
struct Fabric {
  Links links;
  std::vector<SharedLinks> shared = {};  ///< by level, e.g. of nodes, then of switches

  /// Nothing is shared: each message is as fast as alone.
  Fabric(Links alone) : links(std::move(alone)) {}
  Fabric(Links alone, std::vector<SharedLinks> sharing)
      : links(std::move(alone)), shared(std::move(sharing)) {}
  [[nodiscard]] int size() const { return links.size(); }
};

}  // namespace tutti
