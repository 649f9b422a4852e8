/// The load of a round's messages on the links that they share.
#pragma once

#include <cstddef>
#include <vector>

#include "core/fabric.hpp"

namespace tutti {

/// The bytes on each link out of, and into, each group of a fabric.
class LinkLoads {
 public:
  /// `fabric` must outlive it.
  explicit LinkLoads(const Fabric& fabric);

  /// Adds a message of `bytes` bytes; negative bytes remove it. O(levels).
  void add(RankPair ends, Bytes bytes);

  /// The link that takes longest for its load.
  struct Slowest {
    double seconds = 0;
    std::size_t level = 0;
    int group = -1;  ///< -1: no link is shared
    bool out = true;
  };
  /// O(links).
  [[nodiscard]] Slowest slowest() const;
  /// True if a message between these ranks uses `link`.
  [[nodiscard]] bool takes(RankPair ends, const Slowest& link) const;
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

}  // namespace tutti
