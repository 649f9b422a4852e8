/// Translates between ranks and the names of nodes.
#include "topology/link_survey.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "topology/shared_links.hpp"

namespace tutti {

LinkSurvey::LinkSurvey(const Nodes& nodes, std::vector<RankLocation> locations, int world)
    : nodes_(nodes),
      locations_(std::move(locations)),
      world_(world),
      numbers_(index(nodes.count())),
      links_(nodes.count()),
      measured_(nodes.count()) {
  std::vector<std::pair<std::string, int>> named;
  std::map<std::string, int> of_host;
  for (int node = 0; node < nodes.count(); ++node) {
    const std::string& host = locations_[index(nodes.rank_at(node, 0))].node;
    const int before = of_host[host]++;
    named.emplace_back(before == 0 ? host : host + "/" + std::to_string(before), node);
  }
  std::ranges::sort(named);
  for (auto& [name, node] : named) {
    numbers_[index(node)] = static_cast<int>(names_.size());
    names_.push_back(std::move(name));
    node_at_.push_back(node);
  }
}

void LinkSurvey::add_measured(std::span<const MeasuredLink> links) {
  for (const MeasuredLink& link : links) {
    measured_.set(number_of(link.from), number_of(link.to), link.seconds);
  }
  links_.add(measured_);
}

std::vector<RankPair> LinkSurvey::next_pairs() const {
  std::vector<RankPair> pairs = tutti::next_pairs(links_);
  for (auto& [first, second] : pairs) {
    first = nodes_.rank_at(node_at_[index(first)], 0);
    second = nodes_.rank_at(node_at_[index(second)], 0);
  }
  return pairs;
}

bool LinkSurvey::are_insides_known() const {
  for (int node = 0; node < nodes_.count(); ++node) {
    const int number = numbers_[index(node)];
    if (nodes_.size(node) > 1 && links_.find(number, number) == nullptr) return false;
  }
  return true;
}

DistanceFile LinkSurvey::distances(const std::array<Bytes, 2>& bytes) const {
  const int p = nodes_.p();
  const auto n = index(nodes_.count());
  std::array<std::vector<double>, 2> between = {std::vector<double>(n * n),
                                                std::vector<double>(n * n)};
  const NodeLinks all = completed(links_);
  for (const auto& [pair, seconds] : all.all()) {
    for (std::size_t size = 0; size < between.size(); ++size) {
      between[size][index(pair.first) * n + index(pair.second)] = seconds[size];
      between[size][index(pair.second) * n + index(pair.first)] = seconds[size];
    }
  }
  DistanceFile file{"ping-pong between the first ranks of nodes", {}, {p, {{}}}, {}};
  for (Rank rank = 0; rank < p; ++rank) {
    file.names.push_back(locations_[index(rank)].node);
    file.hierarchy.levels[0].push_back(nodes_.node_of(rank));
  }
  for (std::size_t size = 0; size < between.size(); ++size) {
    Distances distances(p);
    for (Rank from = 0; from < p; ++from) {
      for (Rank to = 0; to < p; ++to) {
        const std::size_t at = index(number_of(from)) * n + index(number_of(to));
        if (from != to) distances.set(from, to, between[size][at]);
      }
    }
    file.measured.push_back({bytes[size], std::move(distances)});
  }
  // Nodes at one switch share its uplink.
  for (std::vector<int>& level : clusters_of(file.measured.back().distances).levels) {
    file.hierarchy.levels.push_back(std::move(level));
  }
  file.hierarchy = groups_of(file);  // without levels that repeat or cut those below
  return in_world_order(file, locations_, world_);
}

}  // namespace tutti
