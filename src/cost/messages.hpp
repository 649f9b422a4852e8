/// The messages of a whole call, assigned to rounds.
#pragma once

#include <span>
#include <vector>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// A send and its matching receive.
struct Message {
  Rank from = no_rank;
  Rank to = no_rank;
  Bytes bytes = 0;
  int round = 0;  ///< from 1 on
};

/// The messages of the schedules of ranks 0..p-1. In a round each rank takes part in one message,
/// or in one per direction if ranks have two ports. A message gets the first round after its needs
/// in which both its ranks are free. Among several, the sequence of the receiver's steps (gathers)
/// or of the sender's (scatters) decides. Sorted by (round, from, to). O(messages log messages),
/// plus building the graph.
///
/// The error names a rank and a step that has no partner or never completes.
[[nodiscard]] Result<std::vector<Message>> messages(std::span<const Schedule> schedules);

}  // namespace tutti
