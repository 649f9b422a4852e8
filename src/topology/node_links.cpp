/// Divides nodes into groups by the links of single nodes.
#include "topology/node_links.hpp"

#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "topology/shared_links.hpp"

namespace tutti {

namespace {

/// Of a short and of a long message: noise hides small differences of short ones.
constexpr NodeLinks::Seconds steps = {1.5, min_step};

using NodeGroup = std::vector<int>;

/// The measured nodes of a group that show that all its links are alike. With one, a node that is
/// alone at its place would hide those that are near each other.
constexpr std::ptrdiff_t enough = 2;

/// Groups of nodes whose links to each measured node are alike. Those of a measured node to its own
/// group are, too.
struct Grouped {
  std::vector<NodeGroup> groups;
  std::vector<bool> measured;  ///< by node: are all its links?
  std::optional<int> next;     ///< the node whose links are to be measured
};

/// The parts whose links to `node` are alike for messages of one size.
std::vector<NodeGroup> parts_by(const NodeLinks& links, int node, std::size_t size,
                                NodeGroup nodes) {
  const auto seconds = [&](int other) { return (*links.find(node, other))[size]; };
  std::ranges::stable_sort(nodes, {}, seconds);
  std::vector<NodeGroup> parts;
  for (const int other : nodes) {
    if (parts.empty() || seconds(other) >= steps[size] * seconds(parts.back().front())) {
      parts.emplace_back();
    }
    parts.back().push_back(other);
  }
  return parts;
}

/// The parts whose links to `node` are alike, the nearest one first, each with ascending nodes.
std::vector<NodeGroup> parts_by(const NodeLinks& links, int node, NodeGroup nodes) {
  std::vector<NodeGroup> parts;
  for (NodeGroup& part : parts_by(links, node, 1, std::move(nodes))) {
    for (NodeGroup& finer : parts_by(links, node, 0, std::move(part))) {
      std::ranges::sort(finer);
      parts.push_back(std::move(finer));
    }
  }
  return parts;
}

std::vector<RankPair> missing_pairs(const NodeLinks& links, int node) {
  std::vector<RankPair> missing;
  for (int other = 0; other < links.nodes(); ++other) {
    if (other != node && links.find(node, other) == nullptr) missing.emplace_back(node, other);
  }
  return missing;
}

/// The groups after the links of `node` were measured: it stays with those nearest to it.
std::vector<NodeGroup> divided(const NodeLinks& links, int node, std::vector<NodeGroup> groups) {
  std::vector<NodeGroup> finer;
  for (NodeGroup& group : groups) {
    const bool is_own = std::erase(group, node) > 0;
    std::vector<NodeGroup> parts = parts_by(links, node, std::move(group));
    if (is_own && parts.empty()) parts.emplace_back();
    if (is_own) parts.front().push_back(node);
    std::ranges::move(parts, std::back_inserter(finer));
  }
  return finer;
}

/// Repeats all steps from the first one, so that links which another run has measured count alike.
Grouped grouped(const NodeLinks& links) {
  const auto n = index(links.nodes());
  Grouped found{{NodeGroup(n)}, std::vector<bool>(n), {}};
  std::iota(found.groups[0].begin(), found.groups[0].end(), 0);
  const auto is_measured = [&found](int node) -> bool { return found.measured[index(node)]; };
  for (;;) {
    const auto open = std::ranges::find_if(found.groups, [&](const NodeGroup& group) {
      return std::ranges::count_if(group, is_measured) < std::min(enough, std::ssize(group));
    });
    if (open == found.groups.end()) return found;
    const int node = *std::ranges::find_if_not(*open, is_measured);
    if (!missing_pairs(links, node).empty()) {
      found.next = node;
      return found;
    }
    found.measured[index(node)] = true;
    found.groups = divided(links, node, std::move(found.groups));
  }
}

}  // namespace

void NodeLinks::add(const NodeLinks& newer) {
  for (const auto& [pair, seconds] : newer.all_) all_[pair] = seconds;
}

const NodeLinks::Seconds* NodeLinks::find(int a, int b) const {
  const auto found = all_.find(std::minmax(a, b));
  return found == all_.end() ? nullptr : &found->second;
}

std::vector<RankPair> next_pairs(const NodeLinks& links) {
  const std::optional<int> next = grouped(links).next;
  return next ? missing_pairs(links, *next) : std::vector<RankPair>();
}

NodeLinks completed(const NodeLinks& links) {
  const Grouped found = grouped(links);
  const auto is_measured = [&found](int node) { return found.measured[index(node)]; };
  std::vector<int> like(index(links.nodes()));
  for (const NodeGroup& group : found.groups) {
    const int another = *std::ranges::find_if(group, is_measured);
    for (const int node : group) like[index(node)] = is_measured(node) ? node : another;
  }
  NodeLinks all = links;
  for (int a = 0; a < links.nodes(); ++a) {
    for (int b = a + 1; b < links.nodes(); ++b) {
      if (links.find(a, b) != nullptr) continue;
      const NodeLinks::Seconds* const one = links.find(like[index(a)], b);
      const NodeLinks::Seconds* const other = links.find(a, like[index(b)]);
      assert(one != nullptr && other != nullptr);
      all.set(a, b, {std::min((*one)[0], (*other)[0]), std::min((*one)[1], (*other)[1])});
    }
  }
  return all;
}

bool are_alike(const NodeLinks& links) {
  NodeLinks::Seconds least = {std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};
  NodeLinks::Seconds most = {0, 0};
  for (const auto& [pair, seconds] : links.all()) {
    if (pair.first == pair.second) continue;
    for (std::size_t size = 0; size < steps.size(); ++size) {
      least[size] = std::min(least[size], seconds[size]);
      most[size] = std::max(most[size], seconds[size]);
    }
  }
  return most[0] < steps[0] * least[0] && most[1] < steps[1] * least[1];
}

}  // namespace tutti
