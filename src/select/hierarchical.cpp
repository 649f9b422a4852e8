/// Compares flat calls with node memory by the model.
#include "select/hierarchical.hpp"

#include <algorithm>
#include <cstdio>

namespace tutti {

namespace {

constexpr double min_gain = 1.1;
constexpr double min_gain_unmeasured = 1.5;

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

bool is_measured(const NodeMachine& machine) { return machine.oversubscription > 0; }

/// The reason why the model cannot predict a gain; empty if it can.
std::string doubt_of(const HierarchicalFeatures& features, const NodeMachine& machine) {
  const bool is_oversubscribed = features.oversubscription > 1;
  if (is_measured(machine)) {
    const bool is_fuller =
        is_oversubscribed && features.oversubscription > 1.01 * machine.oversubscription;
    return is_fuller ? "more ranks share a core than when the machine file was measured" : "";
  }
  if (features.shape.nodes == 1) return "the memory of this single node has not been measured";
  return is_oversubscribed ? "ranks outnumber cores and node memory has not been measured" : "";
}

/// The reason why the call cannot or need not use node memory; empty if it may.
std::string obstacle_of(const HierarchicalFeatures& features, const NodeMachine& machine) {
  if (features.least.ranks <= 1) {
    return features.shape.ranks <= 1 ? "no two ranks share a node"
                                     : "nodes have fewer than 2 ranks on average";
  }
  if (!features.keeps_order) {
    return "the operation does not commute and the ranks of a node are not consecutive";
  }
  if (!features.block) return "the ranks do not all know the sizes";
  if (*features.block == 0 && features.collective != Collective::barrier) {
    return "the blocks are empty";
  }
  return doubt_of(features, machine);
}

}  // namespace

NodeShape shape_of(const Nodes& nodes) { return {nodes.count(), nodes.most()}; }

NodeShape min_shape_of(const Nodes& nodes) { return {nodes.count(), nodes.p() / nodes.count()}; }

bool is_block_common(Collective collective) {
  return collective != Collective::gatherv && collective != Collective::scatterv &&
         collective != Collective::alltoallv;
}

int leaders_for(const HierarchicalFeatures& features, const NodeMachine& machine) {
  if (!features.block) return 1;
  return std::min(max_leaders,
                  best_leaders(features.collective, features.shape, *features.block, machine));
}

HierarchicalChoice choose_hierarchical(const HierarchicalFeatures& features,
                                       const NodeMachine& machine) {
  HierarchicalChoice choice;
  choice.reason = obstacle_of(features, machine);
  if (!choice.reason.empty()) return choice;
  const Collective collective = features.collective;
  const NodeShape& shape = features.shape;
  const Bytes block = *features.block;
  for (const FlatShape flat : flat_shapes) {
    if (!has_shape(collective, flat)) continue;
    choice.candidates.push_back({"flat " + std::string(name_of(flat)),
                                 flat_seconds(collective, flat, features.least, block, machine),
                                 "ignores nodes"});
  }
  const double native = best_flat_seconds(collective, features.least, block, machine);
  const int leaders = leaders_for(features, machine);
  const HierarchicalSeconds hierarchical =
      hierarchical_seconds(collective, shape, block, leaders, machine);
  const Level node{true, leaders};
  choice.candidates.push_back({to_text(Setting{Setting::Kind::native, {}, node}),
                               hierarchical.total(), note_of(hierarchical)});
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  const bool measured = is_measured(machine);
  if (hierarchical.total() * (measured ? min_gain : min_gain_unmeasured) >= native) {
    choice.reason =
        std::string("predicted speedup over flat calls below ") + (measured ? "10 %" : "50 %");
    return choice;
  }
  choice.level = node;
  choice.reason =
      std::string("predicted at least ") + (measured ? "10 %" : "50 %") + " faster than flat calls";
  return choice;
}

}  // namespace tutti
