/// Sums bytes by link.
#include "orders/link_loads.hpp"

#include <algorithm>

namespace tutti {

LinkLoads::LinkLoads(const Fabric& fabric) : fabric_(&fabric) {
  for (const SharedLinks& level : fabric.shared) {
    loads_.emplace_back(level.per_byte.size());
    links_ += static_cast<long>(level.per_byte.size());
  }
}

void LinkLoads::add(RankPair ends, Bytes bytes) {
  for (std::size_t level = 0; level < loads_.size(); ++level) {
    const int from = group(level, ends.first);
    const int to = group(level, ends.second);
    if (from == to) return;  // a group is inside one group of the next level
    loads_[level][index(from)].out += bytes;
    loads_[level][index(to)].in += bytes;
  }
}

LinkLoads::Slowest LinkLoads::slowest() const {
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

bool LinkLoads::takes(RankPair ends, const Slowest& link) const {
  if (link.group < 0) return false;
  const int from = group(link.level, ends.first);
  const int to = group(link.level, ends.second);
  return from != to && (link.out ? from : to) == link.group;
}

}  // namespace tutti
