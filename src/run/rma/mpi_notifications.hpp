/// How the ranks of a one-sided operation notify one another: by messages, or by windows.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/mpi/functions.hpp"
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
                                                     std::span<const Rank> order,
                                                     Bytes carried) = 0;
  /// Sends the notification that was composed last. Flush the puts that it announces first: MPI
  /// orders nothing after puts.
  virtual int post(Rank to) = 0;
  /// Lets the MPI make progress. Returns the next notification, if one has come.
  [[nodiscard]] virtual std::optional<RmaMessage> take(int& error) = 0;
};

// Both functions are collective over `comm`, and return an MPI error code.

/// Notifications as messages between the ranks' threads, in which data may travel. The queue owns
/// all messages between two ranks on `comm`. It takes 256 KiB on each rank, and 32 bytes for each
/// rank of `comm`, besides messages in transit.
int open_message_queue(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);

/// Notifications in three windows, the system of Paznikov 2024. They carry no data, list no order,
/// and go from the root down, or to the root. Each takes 2 round trips, each take() 1 or 2 of the
/// rank to itself. A rank needs 2 KiB for each rank.
int open_request_windows(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);

}  // namespace tutti
