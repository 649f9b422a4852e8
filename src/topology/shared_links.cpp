/// Finds groups by a minimum spanning tree, their links, and which of these are bottlenecks.
#include "topology/shared_links.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace tutti {

namespace {

constexpr std::size_t max_cuts = 8;
constexpr double max_inside = 0.95;  ///< quantile of distances within groups

struct Link {
  double seconds = 0;
  Rank a = 0;
  Rank b = 0;
};

double between(const Distances& distances, Rank a, Rank b) {
  return std::max(distances(a, b), distances(b, a));
}

/// The links of a minimum spanning tree, shortest first (Prim). O(p^2).
std::vector<Link> spanning_tree(const Distances& distances) {
  const int p = distances.size();
  std::vector<Link> nearest(index(p), {std::numeric_limits<double>::infinity(), 0, 0});
  std::vector<char> joined(index(p), 0);
  std::vector<Link> tree;
  for (Rank next = 0; next >= 0;) {
    joined[index(next)] = 1;
    for (Rank rank = 0; rank < p; ++rank) {
      const double seconds = between(distances, next, rank);
      if (seconds < nearest[index(rank)].seconds) nearest[index(rank)] = {seconds, next, rank};
    }
    next = -1;
    for (Rank rank = 0; rank < p; ++rank) {
      if (joined[index(rank)] != 0) continue;
      if (next < 0 || nearest[index(rank)].seconds < nearest[index(next)].seconds) next = rank;
    }
    if (next >= 0) tree.push_back(nearest[index(next)]);
  }
  std::ranges::sort(tree, {}, &Link::seconds);
  return tree;
}

/// The groups that the first `count` links of the tree connect, numbered by their lowest ranks.
std::vector<int> groups_by(const std::vector<Link>& tree, std::size_t count, int p) {
  std::vector<Rank> parent(index(p));
  for (Rank rank = 0; rank < p; ++rank) parent[index(rank)] = rank;
  const auto root = [&](Rank rank) {
    while (parent[index(rank)] != rank) {
      rank = parent[index(rank)] = parent[index(parent[index(rank)])];
    }
    return rank;
  };
  for (std::size_t i = 0; i < count; ++i) parent[index(root(tree[i].a))] = root(tree[i].b);
  std::vector<Rank> roots;
  for (Rank rank = 0; rank < p; ++rank) roots.push_back(root(rank));
  return numbered(roots);
}

/// True if at most 50 % of the ranks are alone.
bool are_groups(const std::vector<int>& groups) {
  std::map<int, int> sizes;
  for (const int group : groups) ++sizes[group];
  const auto alone =
      std::ranges::count_if(sizes, [](const auto& group) { return group.second == 1; });
  return 2 * static_cast<std::size_t>(alone) <= groups.size();
}

bool are_apart(const Distances& distances, const std::vector<int>& groups) {
  std::vector<double> within;
  std::vector<double> across;
  for (Rank a = 0; a < distances.size(); ++a) {
    for (Rank b = 0; b < a; ++b) {
      (groups[index(a)] == groups[index(b)] ? within : across).push_back(between(distances, a, b));
    }
  }
  const auto at = [](std::vector<double>& values, double share) {
    const auto quantile =
        values.begin() + static_cast<long>(share * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(values.begin(), quantile, values.end());
    return *quantile;
  };
  return !within.empty() && !across.empty() &&
         at(within, max_inside) * min_step <= at(across, 1 - max_inside);
}

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

/// Of a group: the minimum time per byte within it, between different groups of the level below,
/// and the minima of time per byte and latency to and from other groups.
struct Minima {
  double within = none;
  double across = none;
  double latency = none;
};

void lower(double& minimum, double value) { minimum = std::min(minimum, value); }

}  // namespace

Hierarchy clusters_of(const Distances& distances) {
  Hierarchy found{distances.size(), {}};
  const std::vector<Link> tree = spanning_tree(distances);
  std::vector<std::size_t> cuts;
  const auto step = [&](std::size_t cut) { return tree[cut].seconds / tree[cut - 1].seconds; };
  for (std::size_t i = 1; i < tree.size(); ++i) {
    if (step(i) >= min_step) cuts.push_back(i);
  }
  std::ranges::stable_sort(cuts, std::greater<>(), step);
  cuts.resize(std::min(cuts.size(), max_cuts));
  std::ranges::sort(cuts);
  for (const std::size_t cut : cuts) {
    std::vector<int> groups = groups_by(tree, cut, found.p);
    if (are_groups(groups) && are_apart(distances, groups))
      found.levels.push_back(std::move(groups));
  }
  return found;
}

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
    std::vector<Minima> minima(index(count_of(group)));
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
          lower(minima[out].within, per_byte);
          continue;
        }
        for (const std::size_t link : {out, in}) {
          lower(minima[link].across, per_byte);
          lower(minima[link].latency, links.latency(a, b));
        }
      }
    }
    SharedLinks shared{group, {}, {}};
    for (const auto& [within, across, latency] : minima) {
      const bool is_bottleneck = within == none || across >= min_step * within;
      shared.per_byte.push_back(is_bottleneck ? across : 0);
      shared.latency.push_back(latency);
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
