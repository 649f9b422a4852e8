/// Replay of all ranks' schedules in simulated time.
#pragma once

#include <span>
#include <vector>

#include "core/distances.hpp"
#include "core/result.hpp"
#include "cost/machine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// What a replay assumes. A message of s bytes takes latency + per_byte * s, from when both its
/// ends are posted and have a port free, and keeps a port of both ends for that time.
struct Network {
  double latency = 0;        ///< alpha
  double per_byte = 0;       ///< beta
  int ports = 1;             ///< messages that a rank takes part in at once
  bool full_duplex = false;  ///< a rank has that many ports for each direction, not for both
  /// Each pair of ranks with a latency and a time per byte of its own; null: all have those above.
  const Links* links = nullptr;

  [[nodiscard]] static Network of(const Machine& machine,
                                  Collective collective = Collective::gather) {
    return {machine.latency, machine.per_byte, 1, has_two_ports(collective), nullptr};
  }
};

/// What happened when. Times in the unit of the network's latency.
struct Timeline {
  struct Transfer {
    Rank from = no_rank;
    Rank to = no_rank;
    StepId send = 0;  ///< in the schedule of `from`
    StepId recv = 0;  ///< in the schedule of `to`
    Bytes bytes = 0;
    double start = 0;
    double end = 0;
  };
  std::vector<double> arrivals;     ///< by rank
  std::vector<double> exits;        ///< by rank
  std::vector<double> busy;         ///< by rank: time spent in messages, summed over its ports
  std::vector<Transfer> transfers;  ///< by start

  /// r = max exit - min arrival.
  [[nodiscard]] double run_time() const;
  /// mean(exit - arrival).
  [[nodiscard]] double elapsed() const;
  /// max arrival - min arrival.
  [[nodiscard]] double spread() const;
  /// Time that `rank` takes no part in a message, from the first arrival to its exit (one port).
  [[nodiscard]] double idle(Rank rank) const;
};

/// Replays the schedules of ranks 0..p-1. `arrivals` are by rank; empty: all at 0. Steps of the
/// caller are posted once its rank has arrived, those of the background thread from the first
/// arrival on. Of the messages that are ready a free port takes the one that has been so longest,
/// then the one that comes first in the schedules. A rank exits when all its steps are over and
/// it has arrived. Of one-sided schedules the notifications are the messages (as_messages).
/// O(messages log messages).
///
/// The error names a step that can never be posted or that has no partner.
[[nodiscard]] Result<Timeline> simulate(std::span<const Schedule> schedules, const Network& network,
                                        std::span<const double> arrivals = {});

}  // namespace tutti
