/// The gate before node memory.
#include "choose/levels.hpp"

#include <algorithm>
#include <cstdio>

namespace tutti {

namespace {

/// As for all of Tutti's choices.
constexpr double least_gain = 1.1;

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

std::string note_of(const LevelSeconds& seconds) {
  return "copies in " + microseconds(seconds.copies_in) + ", flags " + microseconds(seconds.flags) +
         ", between nodes " + microseconds(seconds.between) + ", copies out " +
         microseconds(seconds.copies_out);
}

/// Why the call cannot or need not go through node memory; empty if it may.
std::string obstacle_of(const LevelSituation& situation) {
  if (situation.shape.ranks == 1) return "no two ranks share a node";
  if (!situation.keeps_order) {
    return "the operation does not commute, and ranks of a node do not follow one another";
  }
  return situation.block ? "" : "the ranks do not know alike how much there is to move";
}

}  // namespace

NodeShape shape_of(const Nodes& nodes) { return {nodes.count(), nodes.most()}; }

LevelChoice choose_level(const LevelSituation& situation, const NodeMachine& machine) {
  LevelChoice choice;
  choice.reason = obstacle_of(situation);
  if (!choice.reason.empty()) return choice;
  const Collective collective = situation.collective;
  const NodeShape& shape = situation.shape;
  const Bytes block = *situation.block;
  for (const FlatShape flat : flat_shapes) {
    if (!has_shape(collective, flat)) continue;
    choice.candidates.push_back({"flat " + std::string(name_of(flat)),
                                 flat_seconds(collective, flat, shape, block, machine),
                                 "blind to nodes"});
  }
  const double native = best_flat_seconds(collective, shape, block, machine);
  const int leaders = best_leaders(collective, shape, block, machine);
  const LevelSeconds level = level_seconds(collective, shape, block, leaders, machine);
  const Level node{true, leaders};
  choice.candidates.push_back(
      {to_text(Setting{Setting::Kind::native, {}, node}), level.total(), note_of(level)});
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  if (level.total() * least_gain >= native) {
    choice.reason = "no gain of a tenth is modelled over flat " + microseconds(native);
    return choice;
  }
  choice.level = node;
  choice.reason =
      "modelled " + microseconds(level.total()) + " against flat " + microseconds(native);
  return choice;
}

}  // namespace tutti
