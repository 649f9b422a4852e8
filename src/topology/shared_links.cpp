/// Finds the links of groups, and which of them are bottlenecks.
#include "topology/shared_links.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "topology/clusters.hpp"

namespace tutti {

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

int count_of(const std::vector<int>& groups) {
  return groups.empty() ? 0 : *std::ranges::max_element(groups) + 1;
}

/// Adds a level if it has at least 2 groups, fewer than the last level, and these contain the last
/// level's groups.
void add_level(Hierarchy& groups, std::vector<int> level) {
  const int count = count_of(level);
  if (count < 2) return;
  if (!groups.levels.empty() && count >= count_of(groups.levels.back())) return;
  groups.levels.push_back(std::move(level));
  if (!flaw_of(groups).empty()) groups.levels.pop_back();
}

/// By group: the minimum time per byte within it, between different groups of the level below, and
/// the minima of time per byte and latency to and from other groups.
struct Minima {
  std::vector<double> within;
  std::vector<double> across;
  std::vector<double> latency;

  explicit Minima(int groups)
      : within(index(groups), none), across(index(groups), none), latency(index(groups), none) {}
};

void lower(double& minimum, double value) { minimum = std::min(minimum, value); }

}  // namespace

Hierarchy groups_of(const DistanceFile& file) {
  Hierarchy groups{file.p(), {}};
  if (!file.hierarchy.levels.empty()) {
    for (const std::vector<int>& level : file.hierarchy.levels) add_level(groups, numbered(level));
    return groups;
  }
  add_level(groups, numbered(file.names));
  for (const auto& level : clusters_of(file.measured.back().distances).levels) {
    add_level(groups, level);
  }
  return groups;
}

std::vector<SharedLinks> shared_links(const Hierarchy& groups, const Links& links) {
  std::vector<SharedLinks> found;
  for (std::size_t level = 0; level < groups.levels.size(); ++level) {
    const std::vector<int>& group = groups.levels[level];
    Minima minima(count_of(group));
    for (Rank a = 0; a < groups.p; ++a) {
      for (Rank b = 0; b < groups.p; ++b) {
        const bool same = group[index(a)] == group[index(b)];
        const bool below =
            level == 0 ? a == b
                       : groups.levels[level - 1][index(a)] == groups.levels[level - 1][index(b)];
        if (below) continue;
        const std::size_t out = index(group[index(a)]);
        const std::size_t in = index(group[index(b)]);
        const double per_byte = links.per_byte(a, b);
        if (same) {
          lower(minima.within[out], per_byte);
          continue;
        }
        for (const std::size_t link : {out, in}) {
          lower(minima.across[link], per_byte);
          lower(minima.latency[link], links.latency(a, b));
        }
      }
    }
    SharedLinks shared{group, minima.latency, {}};
    for (std::size_t link = 0; link < minima.across.size(); ++link) {
      const bool alone = minima.within[link] == none;
      const bool is_bottleneck = alone || minima.across[link] >= min_step * minima.within[link];
      shared.per_byte.push_back(is_bottleneck ? minima.across[link] : 0);
    }
    found.push_back(std::move(shared));
  }
  return found;
}

Fabric fabric_of(const DistanceFile& file, double latency, double per_byte) {
  Links links = file.links(latency, per_byte);
  std::vector<SharedLinks> shared = shared_links(groups_of(file), links);
  return {std::move(links), std::move(shared)};
}

}  // namespace tutti
