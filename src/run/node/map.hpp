/// Nodes that are emulated on one machine, for tests and measurements.
#pragma once

#include <string_view>

#include "core/nodes.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// Which ranks of the world are taken to share a node, as the setting TUTTI_NODE says it. Ranks of
/// one emulated node share a real one too, or they are parted.
class EmulatedNodes {
 public:
  /// The node of a rank of the world, from 0. Local, O(1).
  [[nodiscard]] int node_of(Rank rank) const { return location_of(rank).node; }
  /// Its group there; -1 where no groups are emulated.
  [[nodiscard]] int group_of(Rank rank) const {
    return grouping_.group_of(location_of(rank).local);
  }
  friend bool operator==(const EmulatedNodes&, const EmulatedNodes&) = default;

 private:
  friend Result<EmulatedNodes> emulated_nodes(std::string_view text);
  struct Location {
    int node;
    int local;
  };
  [[nodiscard]] Location location_of(Rank rank) const;

  Nodes listed_;   ///< of the first ranks; the next ones are on as many other nodes, and so on
  int dealt_ = 0;  ///< nodes to which all ranks are dealt out like cards, if not 0
  Grouping grouping_;
};

/// Reads what nodes_from does, for any number of ranks: the list starts over at its end, so that
/// `3` are nodes of three consecutive ranks; or `round_robin:5` (rank r on node r mod 5), and after
/// it groups. The error says what is accepted.
[[nodiscard]] Result<EmulatedNodes> emulated_nodes(std::string_view text);

}  // namespace tutti
