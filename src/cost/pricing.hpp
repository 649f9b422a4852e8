/// The price of schedules when all ranks arrive at once.
#pragma once

#include <span>

#include "core/result.hpp"
#include "cost/machine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// How a message of s bytes is charged; Machine holds the parameters.
enum class PriceModel : std::uint8_t {
  hockney,  ///< both ends are taken for latency + per_byte * s, once both are ready
  /// The same for one message, but start-ups overlap: it is over latency + per_byte * s after both
  /// ends are free, and takes them for the larger of overhead and gap + per_byte * s. One without
  /// bytes does not queue behind blocks, and keeps its ends from blocks for that long only.
  overlapped,
  logp,   ///< overhead at both ends, gap between messages, the wire between; bytes are free
  loggp,  ///< the same, and per_byte for each byte after the first
};

/// Seconds until the last of the ranks 0..p-1 has completed its schedule: the longest path through
/// the steps, where a rank serves messages in the sequence in which they become ready: one at a
/// time, or one each way where ranks have two ports. What a rank does by itself takes no time.
/// Under LogP and LogGP a send is over when its bytes are on the wire, without the receiver
/// (eager). A put or notification costs its sender what a send does, and the rank that it reaches
/// nothing; a flush is over when the wire has brought back that all has arrived, which takes
/// `serving` besides, an await `polling` after the notification if that tells of blocks. Under
/// Hockney, overlapped or not, notifications are messages (as_messages). `arrivals` are by rank,
/// from 0 on; empty: all at 0. A caller's steps start when its rank is there, those of the
/// background thread before. O(messages log messages). The error names a step that can never
/// complete.
[[nodiscard]] Result<double> price(std::span<const Schedule> schedules, const Machine& machine,
                                   PriceModel model, std::span<const double> arrivals = {});

/// Run time (the last exit) and elapsed time (the mean exit), in seconds.
struct Times {
  double run = 0;
  double elapsed = 0;
};

// The closed forms under Hockney for p ranks that bring `block` bytes each and arrive at once
// (Proficz 2020, section 3). O(1).

/// linear and linear_sequence, gather and scatter: (p - 1)(alpha + m beta).
[[nodiscard]] Times linear_times(int p, Bytes block, const Machine& machine);
/// linear_sync with a block of two segments: (p - 1)(3 alpha + m beta).
[[nodiscard]] Times linear_sync_times(int p, Bytes block, const Machine& machine);
/// binomial scatter, p a power of two: log2 p alpha + (p - 1) m beta, also the mean.
[[nodiscard]] Times binomial_scatter_times(int p, Bytes block, const Machine& machine);
/// binomial gather, p a power of two: as the scatter; the mean is
/// (2 (p - 1) alpha + log2 p * p m beta) / p.
[[nodiscard]] Times binomial_gather_times(int p, Bytes block, const Machine& machine);

}  // namespace tutti
