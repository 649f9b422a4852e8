/// Adding up bytes by way.
#include "orders/link_loads.hpp"

#include <algorithm>

namespace tutti {

WayLoads::WayLoads(const Fabric& fabric) : fabric_(&fabric) {
  for (const SharedWays& level : fabric.ways) {
    loads_.emplace_back(level.per_byte.size());
    ways_ += static_cast<long>(level.per_byte.size());
  }
}

void WayLoads::add(RankPair ends, Bytes bytes) {
  for (std::size_t level = 0; level < loads_.size(); ++level) {
    const int from = group(level, ends.first);
    const int to = group(level, ends.second);
    if (from == to) return;  // groups lie within those of the next level
    loads_[level][static_cast<std::size_t>(from)].out += bytes;
    loads_[level][static_cast<std::size_t>(to)].in += bytes;
  }
}

WayLoads::Slowest WayLoads::slowest() const {
  Slowest slowest;
  for (std::size_t level = 0; level < loads_.size(); ++level) {
    const SharedWays& ways = fabric_->ways[level];
    for (std::size_t group = 0; group < loads_[level].size(); ++group) {
      const auto [out, in] = loads_[level][group];
      const Bytes bytes = std::max(out, in);
      if (bytes == 0 || ways.per_byte[group] == 0) continue;
      const double seconds =
          ways.latency[group] + static_cast<double>(bytes) * ways.per_byte[group];
      if (seconds <= slowest.seconds) continue;
      slowest = {seconds, level, static_cast<int>(group), out >= in};
    }
  }
  return slowest;
}

bool WayLoads::takes(RankPair ends, const Slowest& way) const {
  if (way.group < 0) return false;
  const int from = group(way.level, ends.first);
  const int to = group(way.level, ends.second);
  return from != to && (way.out ? from : to) == way.group;
}

}  // namespace tutti
