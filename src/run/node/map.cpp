/// Parses the setting that emulates nodes.
#include "run/node/map.hpp"

#include "core/nearest.hpp"
#include "core/numbers.hpp"

namespace tutti {

namespace {

constexpr std::string_view dealt = "round_robin:";
constexpr int max_nodes = 1 << 20;
constexpr std::size_t longest_text = 200;

Error refused(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view mapping =
      colon == std::string_view::npos ? "" : text.substr(colon + 1, text.find('/') - colon - 1);
  return {
      "expected ranks of each node (3) or a list of them (1,4,2 or 2x4,3), then :round_robin "
      "or :shuffled, or round_robin:NODES; then groups of ranks (/2)" +
      did_you_mean(mapping, {"round_robin", "shuffled"})};
}

}  // namespace

Result<EmulatedNodes> emulated_nodes(std::string_view text) {
  if (text.size() > longest_text) return refused(text);
  EmulatedNodes nodes;
  const Result<Grouping> grouping = take_grouping(text);
  if (!grouping) return Error{grouping.error()};
  nodes.grouping_ = *grouping;
  if (text.starts_with(dealt)) {
    const bool is_number = read_number(text.substr(dealt.size()), nodes.dealt_);
    if (!is_number || nodes.dealt_ < 1 || nodes.dealt_ > max_nodes) return refused(text);
    return nodes;
  }
  Result<Nodes> listed = nodes_from(text);
  if (!listed) return refused(text);
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
