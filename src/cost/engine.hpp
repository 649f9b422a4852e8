/// Executes the schedules of all ranks in modelled time: ports, links, LogP and LogGP.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/distances.hpp"
#include "core/result.hpp"
#include "cost/machine.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

/// A message whose sender and receiver take part at the same time.
struct TimedMessage {
  Rank from = no_rank;
  Rank to = no_rank;
  Bytes bytes = 0;
  double start = 0;
  double end = 0;
  double seconds = 0;  ///< end - start, before rounding
};

/// How messages take time. All models but `eager` are rendezvous: a message is ready when its send
/// and its receive are posted.
struct EngineModel {
  enum class Service : std::uint8_t {
    in_turn,  ///< a rank serves messages in the sequence in which they become ready
    greedy,   ///< a message starts when both ranks have a free port; the one ready longest is first
    eager,    ///< LogP and LogGP: a send ends when its bytes are on the wire
  };
  /// The first of messages that become ready together: the one with the smaller step, of the
  /// sender, of the receiver, or the larger of both; then the one of the lower sender.
  enum class Tie : std::uint8_t { sender, receiver, later, none };

  Service service = Service::in_turn;
  Tie tie = Tie::later;
  /// Rendezvous: a message takes latency + per_byte * s.
  Machine machine = {};
  const Links* links = nullptr;  ///< greedy: the same for each pair of ranks; null: for all alike
  bool two_ports = false;        ///< a rank has a port for each direction, not one for both
  /// In turn: start-ups overlap. A message occupies its ranks for a start-up, max(overhead, gap)
  /// but at most the latency, plus per_byte * s. One without bytes does not queue behind blocks.
  bool overlaps = false;
  double early = 0;  ///< steps of the background thread start from this time on
};

/// The events of an execution, in the sequence of time; each may be null.
struct EngineObserver {
  std::function<void(const TimedMessage&)> started = nullptr;  ///< it starts; rendezvous only
  std::function<void(Rank, double)> done = nullptr;            ///< a step of a rank is done
};

/// Executes the schedules of ranks 0..p-1. `arrivals` are by rank; empty: all at 0. A caller's
/// steps start after its arrival. Steps without a message take no time. Rendezvous models execute
/// one-sided schedules as messages (as_messages). The error names a step that has no partner or can
/// never complete, or the wrong number of arrivals. O(messages log messages), plus building the
/// graph.
[[nodiscard]] std::optional<Error> execute(std::span<const Schedule> schedules,
                                           const EngineModel& model,
                                           std::span<const double> arrivals,
                                           const EngineObserver& observer);

}  // namespace tutti
