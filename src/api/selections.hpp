/// What selects for the deferred decisions of a communicator.
#pragma once

#include "api/leader_selection.hpp"
#include "api/tuned_selection.hpp"

namespace tutti {

/// Lives as long as its communicator.
struct Selections {
  explicit Selections(Communicator& communicator)
      : nodes(communicator), leaders(communicator, nodes), tuned(communicator, nodes) {}

  HierarchicalNodes nodes;
  LeaderSelection leaders;
  TunedSelection tuned;
};

}  // namespace tutti
