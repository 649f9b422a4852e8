/// Replays all ranks' schedules, in simulated time or in rounds, and prices them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/distances.hpp"
#include "core/result.hpp"
#include "cost/engine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The result of a replay. Times in the unit of the machine's latency.
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

/// Replays the schedules of ranks 0..p-1. A message of s bytes starts when its send and its receive
/// are posted and both ranks have a free port. It takes latency + per_byte * s and occupies both
/// ports meanwhile. A rank has one port, or one per direction in collectives with two ports.
///
/// `arrivals` are by rank; empty: all at 0. Steps of the caller are posted after its rank's
/// arrival, steps of the background thread from the first arrival on. A free port takes the message
/// that has been ready longest, then the one that comes first in the schedules. A rank exits when
/// all its steps are done and it has arrived. One-sided schedules are replayed as messages
/// (as_messages). `links`: latency and time per byte of each pair of ranks; null: the machine's for
/// all pairs. O(messages log messages).
///
/// The error names a step that can never be posted or that has no partner.
[[nodiscard]] Result<Timeline> simulate(std::span<const Schedule> schedules, const Machine& machine,
                                        std::span<const double> arrivals = {},
                                        const Links* links = nullptr);

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

/// The time model of a message of s bytes; Machine holds the parameters.
enum class PriceModel : std::uint8_t {
  hockney,  ///< occupies both ends for latency + per_byte * s after both are ready
  /// Ends latency + per_byte * s after both ends are free; see EngineModel::overlaps.
  overlapped,
  logp,   ///< overhead at both ends, gap between messages, and the wire; bytes take no time
  loggp,  ///< the same, and per_byte for each byte after the first
};

/// Seconds until the last of the ranks 0..p-1 has completed its schedule: the longest path through
/// the steps. A rank serves messages in the sequence in which they become ready, one at a time, or
/// one per direction if ranks have two ports. Local steps take no time.
///
/// Under LogP and LogGP a send ends when its bytes are on the wire, without the receiver (eager). A
/// put or notification costs its sender as much as a send, and its target nothing. A flush ends one
/// wire time plus `serving` after the last put has arrived. An await ends `polling` after its
/// notification, except the root's count of completions, which needs no polling. Under Hockney,
/// overlapped or not, notifications are messages (as_messages).
///
/// With notifications in windows (Paznikov 2024, figures 3 to 6) LogP and LogGP price a request for
/// each: a put of the description and its flush, the flag and its flush, one after the other. The
/// root's count of completions stays one notification.
///
/// `arrivals` are by rank, from 0 on; empty: all at 0. A caller's steps start after its arrival,
/// those of the background thread at 0. The error names a step that can never complete. O(messages
/// log messages).
[[nodiscard]] Result<double> price(std::span<const Schedule> schedules, const Machine& machine,
                                   PriceModel model, std::span<const double> arrivals = {},
                                   Notifications notifications = Notifications::messages);

}  // namespace tutti
