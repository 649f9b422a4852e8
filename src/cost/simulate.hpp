/// Replays all ranks' schedules, in simulated time or in rounds.
#pragma once

#include <span>
#include <vector>

#include "core/distances.hpp"
#include "core/result.hpp"
#include "cost/engine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The model of a replay. A message of s bytes starts when its send and its receive are posted and
/// both ranks have a free port. It takes latency + per_byte * s and occupies both ports meanwhile.
struct Network {
  double latency = 0;        ///< alpha
  double per_byte = 0;       ///< beta
  int ports = 1;             ///< messages that a rank sends and receives at once
  bool full_duplex = false;  ///< `ports` counts each direction, not both together
  /// Latency and time per byte of each pair of ranks; null: those above for all pairs.
  const Links* links = nullptr;

  [[nodiscard]] static Network of(const Machine& machine,
                                  Collective collective = Collective::gather) {
    return {machine.latency, machine.per_byte, 1, has_two_ports(collective), nullptr};
  }
};

/// The result of a replay. Times in the unit of the network's latency.
struct Timeline {
  std::vector<double> arrivals;         ///< by rank
  std::vector<double> exits;            ///< by rank
  std::vector<double> busy;             ///< by rank: time in messages, summed over its ports
  std::vector<TimedMessage> transfers;  ///< by start

  /// r = max exit - min arrival.
  [[nodiscard]] double run_time() const;
  /// mean(exit - arrival).
  [[nodiscard]] double elapsed() const;
  /// max arrival - min arrival.
  [[nodiscard]] double spread() const;
};

/// Replays the schedules of ranks 0..p-1. `arrivals` are by rank; empty: all at 0. Steps of the
/// caller are posted after its rank's arrival, steps of the background thread from the first
/// arrival on. A free port takes the message that has been ready longest, then the one that comes
/// first in the schedules. A rank exits when all its steps are done and it has arrived. One-sided
/// schedules are replayed as messages (as_messages). O(messages log messages).
///
/// The error names a step that can never be posted or that has no partner.
[[nodiscard]] Result<Timeline> simulate(std::span<const Schedule> schedules, const Network& network,
                                        std::span<const double> arrivals = {});

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
