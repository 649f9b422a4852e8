/// The modelled time of schedules.
#pragma once

#include <span>

#include "core/result.hpp"
#include "cost/machine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// The time model of a message of s bytes; Machine holds the parameters.
enum class PriceModel : std::uint8_t {
  hockney,  ///< occupies both ends for latency + per_byte * s after both are ready
  /// The same for one message, but start-ups overlap: a message ends latency + per_byte * s after
  /// both ends are free, and occupies them for a start-up, max(overhead, gap) but at most latency,
  /// plus per_byte * s. A message without bytes occupies them for a start-up; it does not queue
  /// behind blocks.
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
/// `arrivals` are by rank, from 0 on; empty: all at 0. A caller's steps start after its arrival,
/// those of the background thread at 0. The error names a step that can never complete. O(messages
/// log messages).
[[nodiscard]] Result<double> price(std::span<const Schedule> schedules, const Machine& machine,
                                   PriceModel model, std::span<const double> arrivals = {});

}  // namespace tutti
