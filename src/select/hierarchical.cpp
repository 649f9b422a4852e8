/// Prices flat calls and node memory by the model.
#include "select/hierarchical.hpp"

#include <algorithm>
#include <cstdio>

namespace tutti {

namespace {

/// More leaders gain little, and MPIs have few communicators.
constexpr int max_leaders = 8;

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

std::string note_of(const HierarchicalSeconds& seconds) {
  return "copies in " + microseconds(seconds.copies_in) + ", signals " +
         microseconds(seconds.signals) + ", between nodes " + microseconds(seconds.between) +
         ", copies out " + microseconds(seconds.copies_out);
}

}  // namespace

NodeShape shape_of(const Nodes& nodes) { return {nodes.count(), nodes.most()}; }

bool is_block_common(Collective collective) {
  return collective != Collective::gatherv && collective != Collective::scatterv &&
         collective != Collective::alltoallv;
}

int leaders_for(Collective collective, const NodeShape& shape, Bytes block,
                const NodeMachine& machine) {
  return std::min(max_leaders, best_leaders(collective, shape, block, machine));
}

std::vector<Candidate> hierarchical_proposals(Collective collective, const Nodes& nodes,
                                              Bytes block, const NodeMachine& machine) {
  const NodeShape shape = shape_of(nodes);
  const NodeShape mean = {nodes.count(), nodes.p() / nodes.count()};
  std::vector<Candidate> proposals;
  for (const FlatShape flat : flat_shapes) {
    if (!has_shape(collective, flat)) continue;
    proposals.push_back({"flat " + std::string(name_of(flat)),
                         flat_seconds(collective, flat, mean, block, machine), "ignores nodes"});
  }
  const int leaders = leaders_for(collective, shape, block, machine);
  const HierarchicalSeconds seconds =
      hierarchical_seconds(collective, shape, block, leaders, machine);
  proposals.push_back({to_text(Setting{Setting::Kind::native, {}, Level{true, leaders}}),
                       seconds.total(), note_of(seconds)});
  std::stable_sort(proposals.begin(), proposals.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return proposals;
}

}  // namespace tutti
