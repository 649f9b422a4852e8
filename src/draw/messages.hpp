/// The messages of a whole call: which sends and receives belong together, and in which rounds.
#pragma once

#include <span>
#include <string>
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
/// takes part in one message at a time: a message gets the first round after all that it
/// needs, in the sequence of the receiver's steps (gathers) or the sender's (scatters).
/// Sorted by (round, from, to). O(messages log messages).
///
/// The error names the ranks whose sends and receives do not pair, or that wait for each other.
[[nodiscard]] Result<std::vector<Message>> messages(std::span<const Schedule> schedules);

/// The earlier steps that each step of a schedule needs directly: the last `wait` before it, the
/// receives of what it sends, and for a wait the steps it names.
[[nodiscard]] std::vector<std::vector<StepId>> needs(const Schedule& schedule);

}  // namespace tutti
