/// Merges sets of nodes, and reads and writes them as JSON.
#include "topology/node_sets.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>

#include "core/json.hpp"
#include "topology/distance_file.hpp"

namespace tutti {

namespace {

constexpr std::string_view sets_schema = "tutti-learned-distances-1";
/// Of the files of distance_file.hpp.
constexpr std::string_view former_schema = "tutti-distances-1";

class SetsReader {
 public:
  explicit SetsReader(std::string_view text) : json_(text) {}

  Result<std::vector<NodeSet>> read() {
    const bool good =
        json_.object([&](const std::string& key) { return member(key); }) && json_.end();
    if (!good) return Error{json_.error()};
    if (schema_ == former_schema) return std::vector<NodeSet>();
    if (schema_ != sets_schema) {
      return Error{"invalid schema \"" + schema_ + "\"; expected \"" + std::string(sets_schema) +
                   "\""};
    }
    return std::move(sets_);
  }

 private:
  bool member(const std::string& key) {
    if (key == "schema") return json_.string(schema_);
    if (key == "sets") return json_.array([&] { return set(); });
    return json_.skip();
  }

  bool set() {
    NodeSet read{{}, NodeLinks(0), ""};
    std::vector<MeasuredLink> links;
    const bool good = json_.object([&](const std::string& key) {
      if (key == "nodes") {
        return json_.array([&] { return json_.string(read.nodes.emplace_back()); });
      }
      if (key == "date") return json_.string(read.date);
      if (key == "links") return json_.array([&] { return link(links.emplace_back()); });
      return json_.skip();
    });
    return good && assemble(std::move(read), links);
  }

  bool link(MeasuredLink& read) {
    std::size_t count = 0;
    const bool good = json_.array([&] {
      const std::size_t at = count++;
      if (at > 3) return json_.refuse("invalid link; expected [node, node, time, time]");
      if (at > 1) return json_.number(read.seconds[at - 2]);
      long node = 0;
      if (!json_.integer(node, 0, max_distance_ranks - 1)) return false;
      (at == 0 ? read.from : read.to) = static_cast<Rank>(node);
      return true;
    });
    if (!good) return false;
    if (count < 4) return json_.refuse("invalid link; expected [node, node, time, time]");
    return (read.seconds[0] > 0 && read.seconds[1] > 0) ||
           json_.refuse("invalid link; expected times above 0");
  }

  bool assemble(NodeSet set, const std::vector<MeasuredLink>& links) {
    const auto late = std::ranges::adjacent_find(set.nodes, std::greater_equal<>());
    if (late != set.nodes.end()) {
      return json_.refuse("node \"" + *late + "\" is not before the next one");
    }
    const auto count = static_cast<int>(set.nodes.size());
    set.links = NodeLinks(count);
    for (const MeasuredLink& one : links) {
      if (std::max(one.from, one.to) >= count) {
        return json_.refuse("node " + std::to_string(std::max(one.from, one.to)) +
                            " of a link; expected 0 to " + std::to_string(count - 1));
      }
      set.links.set(one.from, one.to, one.seconds);
    }
    sets_.push_back(std::move(set));
    return true;
  }

  JsonReader json_;
  std::string schema_;
  std::vector<NodeSet> sets_;
};

Json json_of(const NodeSet& set) {
  const auto row = [](const auto& link) {
    const auto& [pair, seconds] = link;
    return json_list(
        std::array{Json(pair.first), Json(pair.second), Json(seconds[0]), Json(seconds[1])});
  };
  return json_object("nodes", json_list(set.nodes), "date", set.date, "links",
                     json_list(set.links.all(), row));
}

}  // namespace

void add_set(std::vector<NodeSet>& sets, NodeSet newest) {
  const auto former = std::ranges::find(sets, newest.nodes, &NodeSet::nodes);
  if (former != sets.end()) {
    NodeLinks links = std::move(former->links);
    links.add(newest.links);
    newest.links = std::move(links);
    sets.erase(former);
  }
  if (sets.size() >= max_node_sets) sets.erase(sets.begin());
  sets.push_back(std::move(newest));
}

NodeLinks links_between(const std::vector<NodeSet>& sets, const std::vector<std::string>& nodes) {
  NodeLinks found(static_cast<int>(nodes.size()));
  const auto add = [&](const std::vector<std::string>& names, const NodeLinks& links) {
    std::vector<int> numbers;
    for (const std::string& name : names) {
      const auto at = std::ranges::lower_bound(nodes, name);
      const bool is_wanted = at != nodes.end() && *at == name;
      numbers.push_back(is_wanted ? static_cast<int>(at - nodes.begin()) : -1);
    }
    for (const auto& [pair, seconds] : links.all()) {
      const int from = numbers[index(pair.first)];
      const int to = numbers[index(pair.second)];
      if (from >= 0 && to >= 0) found.set(from, to, seconds);
    }
  };
  for (const NodeSet& set : sets) {
    std::vector<std::string> common;
    std::ranges::set_intersection(set.nodes, nodes, std::back_inserter(common));
    if (common.size() > 1 && next_pairs(set.links).empty()) add(set.nodes, completed(set.links));
  }
  // What was measured counts more than what stands for it.
  for (const NodeSet& set : sets) add(set.nodes, set.links);
  return found;
}

Result<std::vector<NodeSet>> node_sets_from_text(std::string_view text) {
  return SetsReader(text).read();
}

std::string to_text(const std::vector<NodeSet>& sets, std::size_t max_bytes) {
  const std::string head = "{\"schema\": " + json_string(sets_schema) + ", \"sets\": [";
  const std::string end = "]}\n";
  std::string text;
  for (auto set = sets.rbegin(); set != sets.rend(); ++set) {
    const std::string older = "\n " + json_of(*set).text + (text.empty() ? "" : ",");
    if (head.size() + older.size() + text.size() + end.size() > max_bytes) break;
    text.insert(0, older);
  }
  return head + text + end;
}

}  // namespace tutti
