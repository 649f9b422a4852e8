/// The messages of a whole call, laid into rounds.
#pragma once

#include <span>
#include <vector>

#include "core/result.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// A send and the receive that takes it.
struct Message {
  Rank from = no_rank;
  Rank to = no_rank;
  StepId send = 0;  ///< in the schedule of `from`
  StepId recv = 0;  ///< in the schedule of `to`
  Bytes bytes = 0;
  int round = 0;  ///< from 1 on
  friend bool operator==(const Message&, const Message&) = default;
};

/// The messages of the schedules of ranks 0..p-1. A round is what can happen at once if each rank
/// takes part in one message at a time, in one each way where ranks have two ports: a message gets
/// the first round in which both its ranks are free after all that it needs; where several could
/// go, the sequence of the receiver's steps (gathers) or of the sender's (scatters) decides. Sorted
/// by (round, from, to). O(messages log messages) beyond the building of the graph.
///
/// The error names a rank and step without a partner, or one that waits forever.
[[nodiscard]] Result<std::vector<Message>> messages(std::span<const Schedule> schedules);

}  // namespace tutti
