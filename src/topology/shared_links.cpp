/// Narrow links out of groups.
#include "topology/shared_links.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "core/index.hpp"
#include "topology/clusters.hpp"

namespace tutti {

namespace {

constexpr double min_step = 1.2;
constexpr double none = std::numeric_limits<double>::infinity();

/// The same groups, numbered 0, 1, .. by their lowest ranks.
template <class Name>
std::vector<int> numbered(const std::vector<Name>& names) {
  std::map<Name, int> numbers;
  std::vector<int> groups;
  for (const Name& name : names) {
    groups.push_back(numbers.emplace(name, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

int count_of(const std::vector<int>& groups) {
  return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
}

/// Adds a level where it is coarser than the last one, and not all in one.
void add_hierarchical(Hierarchy& groups, std::vector<int> level) {
  const int count = count_of(level);
  if (count < 2) return;
  if (!groups.levels.empty() && count >= count_of(groups.levels.back())) return;
  groups.levels.push_back(std::move(level));
  if (!flaw_of(groups).empty()) groups.levels.pop_back();
}

/// Of each group: the least time per byte within it, between ranks of different groups of the
/// level below, and the least time per byte and latency to and from other groups.
struct Least {
  std::vector<double> within;
  std::vector<double> across;
  std::vector<double> latency;

  explicit Least(int groups)
      : within(index(groups), none), across(index(groups), none), latency(index(groups), none) {}
};

void lower(double& least, double value) { least = std::min(least, value); }

}  // namespace

Hierarchy groups_of(const DistanceFile& file) {
  Hierarchy groups{file.p(), {}};
  if (!file.hierarchy.levels.empty()) {
    for (const std::vector<int>& level : file.hierarchy.levels)
      add_hierarchical(groups, numbered(level));
    return groups;
  }
  add_hierarchical(groups, numbered(file.names));
  for (const auto& level : clusters_of(file.measured.back().distances).levels) {
    add_hierarchical(groups, numbered(level));
  }
  return groups;
}

std::vector<SharedLinks> shared_links(const Hierarchy& groups, const Links& links) {
  std::vector<SharedLinks> found;
  for (std::size_t level = 0; level < groups.levels.size(); ++level) {
    const std::vector<int>& group = groups.levels[level];
    Least least(count_of(group));
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
          lower(least.within[out], per_byte);
          continue;
        }
        for (const std::size_t link : {out, in}) {
          lower(least.across[link], per_byte);
          lower(least.latency[link], links.latency(a, b));
        }
      }
    }
    SharedLinks shared{group, least.latency, {}};
    for (std::size_t link = 0; link < least.across.size(); ++link) {
      const bool alone = least.within[link] == none;
      const bool is_bottleneck = alone || least.across[link] >= min_step * least.within[link];
      shared.per_byte.push_back(is_bottleneck ? least.across[link] : 0);
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
