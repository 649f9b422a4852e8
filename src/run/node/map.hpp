/// Emulates several nodes on one machine, for tests and measurements.
#pragma once

#include <string_view>

#include "core/nodes.hpp"
#include "core/result.hpp"
#include "core/types.hpp"

namespace tutti {

/// The assignment of world ranks to emulated nodes, from the setting TUTTI_NODE. Emulation splits
/// real nodes and never joins them.
class EmulatedNodes {
 public:
  /// The emulated node of a world rank, from 0. Local, O(1).
  [[nodiscard]] int node_of(Rank rank) const { return location_of(rank).node; }
  /// The group of a world rank on its emulated node; -1 if none are emulated.
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

  Nodes listed_;   ///< nodes of the first ranks; the list repeats on further nodes
  int dealt_ = 0;  ///< nodes of a round-robin mapping; 0: `listed_` applies
  Grouping grouping_;
};

/// Parses the notation of nodes_from(), for any number of ranks: the list repeats, so `3` means
/// nodes of 3 consecutive ranks. Also accepts `round_robin:5` (rank r on node r mod 5). Groups may
/// follow. The error lists the accepted notations.
[[nodiscard]] Result<EmulatedNodes> emulated_nodes(std::string_view text);

}  // namespace tutti
