/// The links between ranks, and which of them several messages share.
#pragma once

#include <utility>
#include <vector>

#include "core/distances.hpp"

namespace tutti {

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
