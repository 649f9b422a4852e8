/// Numbering of nodes, their text form, and emulated nodes.
#include "core/nodes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "core/numbers.hpp"
#include "core/words.hpp"

namespace tutti {

namespace {

/// No machine has more; a larger count is a typing error.
constexpr int max_ranks = 1 << 22;
constexpr int max_nodes = 1 << 20;         ///< of TUTTI_NODE
constexpr std::size_t longest_text = 200;  ///< of TUTTI_NODE
/// Before the number of nodes or groups that ranks are dealt to.
constexpr std::string_view round_robin_over = "round_robin:";

bool read_count(std::string_view text, int& value) {
  return read_number(text, value) && 0 < value && value <= max_ranks;
}

/// Appends the ranks of the nodes that "6" or "8x6" stands for; false if it is neither.
bool read_item(std::string_view item, std::vector<int>& sizes) {
  const std::size_t times = item.find('x');
  int nodes = 1;
  int ranks = 0;
  if (times != std::string_view::npos && !read_count(item.substr(0, times), nodes)) return false;
  if (!read_count(item.substr(times == std::string_view::npos ? 0 : times + 1), ranks)) {
    return false;
  }
  if (max_ranks / ranks < nodes || index(max_ranks - nodes) < sizes.size()) return false;
  sizes.insert(sizes.end(), index(nodes), ranks);
  return true;
}

/// The node of each rank in a round-robin mapping; `sizes` holds the ranks of each node.
std::vector<int> deal(std::vector<int> sizes) {
  std::vector<int> labels;
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (std::size_t node = 0; node < sizes.size(); ++node) {
      if (sizes[node] == 0) continue;
      --sizes[node];
      labels.push_back(static_cast<int>(node));
      dealt = true;
    }
  }
  return labels;
}

/// Fisher-Yates with a generator that gives the same numbers on every platform.
void shuffle(std::vector<int>& labels) {
  std::minstd_rand random(1);
  for (std::size_t i = labels.size(); i > 1; --i) std::swap(labels[i - 1], labels[random() % i]);
}

Nodes grouped(Nodes nodes, const Grouping& grouping) {
  if (grouping.number == 0) return nodes;
  std::vector<int> labels;
  std::vector<int> groups;
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    labels.push_back(nodes.node_of(rank));
    groups.push_back(grouping.group_of(nodes.local_of(rank)));
  }
  return Nodes::of(labels, groups);
}

Error refused_emulation(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view mapping =
      colon == std::string_view::npos ? "" : text.substr(colon + 1, text.find('/') - colon - 1);
  return {
      "expected ranks of each node (3) or a list of them (1,4,2 or 2x4,3), then :round_robin "
      "or :shuffled, or round_robin:NODES; then groups of ranks (/2)" +
      did_you_mean(mapping, {"round_robin", "shuffled"})};
}

}  // namespace

Nodes Nodes::of(std::span<const int> labels) {
  Nodes nodes;
  std::map<int, int> numbers;
  std::vector<int> sizes;
  for (const int label : labels) {
    const auto [at, isnew] = numbers.try_emplace(label, static_cast<int>(numbers.size()));
    if (isnew) sizes.push_back(0);
    nodes.node_.push_back(at->second);
    nodes.local_.push_back(sizes[index(at->second)]++);
  }
  nodes.first_.resize(sizes.size() + 1);
  std::partial_sum(sizes.begin(), sizes.end(), nodes.first_.begin() + 1);
  nodes.ranks_.resize(labels.size());
  for (Rank rank = 0; rank < nodes.p(); ++rank) {
    nodes.ranks_[index(nodes.first_[index(nodes.node_of(rank))] + nodes.local_of(rank))] = rank;
  }
  return nodes;
}

Nodes Nodes::of(std::span<const int> labels, std::span<const int> groups) {
  Nodes nodes = of(labels);
  nodes.group_.assign(groups.begin(), groups.end());
  return nodes;
}

std::vector<std::vector<int>> Nodes::groups(int node) const {
  std::map<int, std::vector<int>> found;
  for (int local = 0; local < size(node); ++local) {
    const int group = group_.empty() ? -1 : group_[index(rank_at(node, local))];
    found[std::max(group, -1)].push_back(local);
  }
  if (found.count(-1) > 0) {  // the group of some rank is unknown
    std::vector<int> all(index(size(node)));
    std::iota(all.begin(), all.end(), 0);
    return {all};
  }
  std::vector<std::vector<int>> sorted;
  for (auto& [label, locals] : found) sorted.push_back(std::move(locals));
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.back() < b.back(); });
  return sorted;
}

Nodes Nodes::consecutive(std::span<const int> sizes) {
  std::vector<int> labels;
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    labels.insert(labels.end(), index(sizes[node]), static_cast<int>(node));
  }
  return of(labels);
}

int Nodes::most() const {
  int largest = 0;
  for (int node = 0; node < count(); ++node) largest = std::max(largest, size(node));
  return largest;
}

bool Nodes::even() const { return std::int64_t{count()} * most() == p(); }

bool Nodes::in_rank_order() const { return std::ranges::is_sorted(node_); }

Result<Grouping> take_grouping(std::string_view& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return Grouping{};
  std::string_view rest = text.substr(slash + 1);
  Grouping grouping;
  grouping.dealt = rest.starts_with(round_robin_over);
  if (grouping.dealt) rest.remove_prefix(round_robin_over.size());
  if (!read_count(rest, grouping.number)) {
    return Error{"invalid groups '" + std::string(text.substr(slash)) +
                 "': expected the ranks of each group, as /2, or /round_robin:GROUPS" +
                 did_you_mean(rest.substr(0, rest.find(':')), {"round_robin"})};
  }
  text = text.substr(0, slash);
  return grouping;
}

Result<Nodes> nodes_from(std::string_view text) {
  const Result<Grouping> grouping = take_grouping(text);
  if (!grouping) return Error{grouping.error()};
  const std::size_t colon = text.find(':');
  const std::string_view mapping =
      colon == std::string_view::npos ? "block" : text.substr(colon + 1);
  const Error error{
      "invalid nodes '" + std::string(text) +
      "': expected the ranks of each node, as 1,4,2,3,1 or 8x6 (nodes x ranks), then :block, "
      ":round_robin or :shuffled, then /2 for groups of 2 ranks" +
      did_you_mean(mapping, {"round_robin", "shuffled"})};
  std::vector<int> sizes;
  for (const std::string_view item : split(text.substr(0, colon))) {
    if (!read_item(item, sizes)) return error;
  }
  if (std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) > max_ranks) return error;
  if (mapping == "block") return grouped(Nodes::consecutive(sizes), *grouping);
  std::vector<int> labels = deal(sizes);
  if (mapping == "shuffled") {
    shuffle(labels);
  } else if (mapping != "round_robin") {
    return error;
  }
  return grouped(Nodes::of(labels), *grouping);
}

Result<EmulatedNodes> emulated_nodes(std::string_view text) {
  if (text.size() > longest_text) return refused_emulation(text);
  EmulatedNodes nodes;
  const Result<Grouping> grouping = take_grouping(text);
  if (!grouping) return Error{grouping.error()};
  nodes.grouping_ = *grouping;
  if (text.starts_with(round_robin_over)) {
    const bool is_number = read_number(text.substr(round_robin_over.size()), nodes.dealt_);
    if (!is_number || nodes.dealt_ < 1 || nodes.dealt_ > max_nodes) return refused_emulation(text);
    return nodes;
  }
  Result<Nodes> listed = nodes_from(text);
  if (!listed) return refused_emulation(text);
  nodes.listed_ = std::move(*listed);
  return nodes;
}

EmulatedNodes::Location EmulatedNodes::location_of(Rank rank) const {
  if (dealt_ > 0) return {rank % dealt_, rank / dealt_};
  const int times = rank / listed_.p();
  const Rank in_list = rank % listed_.p();
  return {times * listed_.count() + listed_.node_of(in_list), listed_.local_of(in_list)};
}

}  // namespace tutti
