/// Reading the setting that emulates nodes.
#include "run/node/map.hpp"

#include <charconv>
#include <numeric>

namespace tutti {

namespace {

constexpr std::string_view dealt = "round_robin:";
constexpr int most_ranks = 1 << 20;
constexpr std::size_t longest_text = 200;

/// A number from 1 to `most_ranks`; 0 where there is none.
int number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all && number >= 1 && number <= most_ranks ? number : 0;
}

Error refused(std::string_view text) {
  return {"'" + std::string(text) +
          "' names no nodes; accepted are ranks for each node, as 3, a list of them, as 1,4,2, or "
          "round_robin: and the number of nodes; then groups in each, as /2"};
}

}  // namespace

Result<EmulatedNodes> emulated_nodes(std::string_view text) {
  if (text.size() > longest_text) return refused(text);
  EmulatedNodes nodes;
  const Result<Grouping> grouping = take_grouping(text);
  if (!grouping) return Error{grouping.error()};
  nodes.grouping_ = *grouping;
  if (text.starts_with(dealt)) {
    nodes.nodes_ = number_in(text.substr(dealt.size()));
    if (nodes.nodes_ == 0) return refused(text);
    return nodes;
  }
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const int count = number_in(rest.substr(0, comma));
    if (count == 0) return refused(text);
    nodes.counts_.push_back(count);
    if (comma == std::string_view::npos) return nodes;
    rest.remove_prefix(comma + 1);
  }
}

EmulatedNodes::Place EmulatedNodes::place_of(Rank rank) const {
  if (nodes_ > 0) return {rank % nodes_, rank / nodes_};
  const auto all = std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0});
  auto node = static_cast<int>(rank / all) * static_cast<int>(counts_.size());
  std::int64_t rest = rank % all;
  for (const int count : counts_) {
    if (rest < count) break;
    rest -= count;
    ++node;
  }
  return {node, static_cast<int>(rest)};
}

}  // namespace tutti
