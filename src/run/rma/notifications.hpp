/// How the ranks of a one-sided operation notify one another.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "run/rma/control_message.hpp"

namespace tutti {

/// A received notification.
struct RmaMessage {
  Rank from = no_rank;
  RmaControlMessage control;
  std::vector<Rank> order;             ///< if it is listed
  std::span<const std::byte> carried;  ///< valid until the next one is taken
};

/// The thread that serves a rank's windows takes the notifications of other ranks from here; those
/// of one sender in the sequence in which they were sent. Only close() waits for other ranks. All
/// functions return an MPI error code unless they say otherwise. Not to be used by two threads at
/// once.
class RmaNotifications {
 public:
  virtual ~RmaNotifications() = default;

  /// No notification may be in transit to any rank. Collective.
  virtual int close() = 0;
  /// False while there is no room for another notification of this operation to that rank.
  [[nodiscard]] virtual bool can_post(const RmaControlMessage& control, Rank to) const = 0;
  /// Begins a notification that carries `carried` bytes, up to max_carried, and lists an order, or
  /// none. Returns where to write the bytes.
  [[nodiscard]] virtual std::span<std::byte> compose(RmaControlMessage control,
                                                     const std::vector<Rank>& order,
                                                     Bytes carried) = 0;
  /// Sends the notification that was composed last. Flush the puts that it announces first: MPI
  /// orders nothing after puts.
  virtual int post(Rank to) = 0;
  /// Lets the MPI make progress. Returns the next notification, if one has come.
  [[nodiscard]] virtual std::optional<RmaMessage> take(int& error) = 0;
};

}  // namespace tutti
