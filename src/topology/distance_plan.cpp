/// Plans chains of pairs, level by level.
#include "topology/distance_plan.hpp"

#include <cstring>
#include <numeric>

namespace tutti {

namespace {

/// By level, the finest first, each rank's representative: the lowest rank of its group. Above all
/// levels there is one group.
std::vector<std::vector<Rank>> representatives_of(const Hierarchy& hierarchy) {
  std::vector<std::vector<Rank>> levels;
  for (const std::vector<int>& groups : hierarchy.levels) {
    std::map<int, Rank> lowest;
    levels.emplace_back();
    for (Rank rank = 0; rank < hierarchy.p; ++rank) {
      levels.back().push_back(lowest.emplace(groups[index(rank)], rank).first->second);
    }
  }
  levels.emplace_back(index(hierarchy.p), 0);
  return levels;
}

}  // namespace

std::string flaw_of(const Hierarchy& hierarchy) {
  for (std::size_t level = 0; level < hierarchy.levels.size(); ++level) {
    const std::vector<int>& groups = hierarchy.levels[level];
    if (groups.size() != index(hierarchy.p)) {
      return "level " + std::to_string(level) + " has groups for " + std::to_string(groups.size()) +
             " ranks; expected " + std::to_string(hierarchy.p);
    }
    if (level == 0) continue;
    std::map<int, int> above;
    for (std::size_t rank = 0; rank < groups.size(); ++rank) {
      const int below = hierarchy.levels[level - 1][rank];
      if (above.emplace(below, groups[rank]).first->second == groups[rank]) continue;
      return "group " + std::to_string(below) + " of level " + std::to_string(level - 1) +
             " lies in two groups of level " + std::to_string(level);
    }
  }
  return "";
}

std::vector<std::vector<std::vector<RankPair>>> chains_to_measure(const Hierarchy& hierarchy) {
  std::vector<std::vector<std::vector<RankPair>>> levels;
  std::vector<Rank> members(index(hierarchy.p));
  std::iota(members.begin(), members.end(), 0);
  for (const std::vector<Rank>& representatives : representatives_of(hierarchy)) {
    std::map<Rank, std::vector<Rank>> groups;
    for (const Rank rank : members) groups[representatives[index(rank)]].push_back(rank);
    members.clear();
    levels.emplace_back();
    for (const auto& [first, ranks] : groups) {
      members.push_back(first);
      std::vector<RankPair> chain;
      for (auto low = ranks.begin(); low != ranks.end(); ++low) {
        for (auto high = low + 1; high != ranks.end(); ++high) chain.emplace_back(*low, *high);
      }
      if (!chain.empty()) levels.back().push_back(std::move(chain));
    }
  }
  return levels;
}

namespace {

/// The representatives of the largest groups that hold only one of two ranks; the two ranks
/// themselves if they share a finest group.
RankPair measured_for(const std::vector<std::vector<Rank>>& representatives, Rank a, Rank b) {
  RankPair pair = {a, b};
  for (const std::vector<Rank>& level : representatives) {
    const RankPair above = {level[index(a)], level[index(b)]};
    if (above.first == above.second) break;
    pair = above;
  }
  return pair;
}

}  // namespace

Hierarchy hierarchy_to_measure(const std::vector<std::string>& nodes, int nodes_per_switch) {
  Hierarchy hierarchy{static_cast<int>(nodes.size()), {}};
  if (hierarchy.p <= max_for_all_pairs) return hierarchy;
  // Nodes of a switch have consecutive numbers, whatever their ranks.
  const auto comes_before = [](const std::string& a, const std::string& b) {
    return strverscmp(a.c_str(), b.c_str()) < 0;  // node9 comes before node10
  };
  std::map<std::string, int, decltype(comes_before)> numbers(comes_before);
  for (const std::string& name : nodes) numbers.emplace(name, 0);
  int next = 0;
  for (auto& [name, number] : numbers) number = next++;
  std::vector<int> node;
  std::vector<int> at_switch;
  for (const std::string& name : nodes) {
    node.push_back(numbers.at(name));
    if (nodes_per_switch > 0) at_switch.push_back(node.back() / nodes_per_switch);
  }
  hierarchy.levels.push_back(std::move(node));
  if (nodes_per_switch > 0) hierarchy.levels.push_back(std::move(at_switch));
  return hierarchy;
}

Result<Distances> expanded(const Hierarchy& hierarchy, const std::vector<MeasuredPair>& measured) {
  std::map<RankPair, double> seconds;
  for (const MeasuredPair& pair : measured) seconds[{pair.from, pair.to}] = pair.seconds;
  const auto representatives = representatives_of(hierarchy);
  std::vector<double> all;
  all.reserve(index(hierarchy.p) * index(hierarchy.p));
  for (Rank from = 0; from < hierarchy.p; ++from) {
    for (Rank to = 0; to < hierarchy.p; ++to) {
      const RankPair pair = measured_for(representatives, from, to);
      auto known = seconds.find(pair);
      if (known == seconds.end()) known = seconds.find({pair.second, pair.first});
      if (from != to && known == seconds.end()) {
        return Error{"the pair of ranks " + std::to_string(pair.first) + " and " +
                     std::to_string(pair.second) + " is missing"};
      }
      all.push_back(from == to ? 0 : known->second);
    }
  }
  return Distances(hierarchy.p, std::move(all));
}

}  // namespace tutti
