/// Messages or windows as notifications of one-sided operations.
#pragma once

#include <memory>

#include "run/mpi/functions.hpp"
#include "run/rma/notifications.hpp"

namespace tutti {

// Both functions are collective over `comm`, and return an MPI error code.

/// Notifications as messages between the ranks' threads, in which data may travel. The queue owns
/// all messages between two ranks on `comm`. It takes 256 KiB on each rank, besides messages in
/// transit.
int open_message_queue(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);

/// Notifications in three windows, the system of Paznikov 2024. They carry no data, list no order,
/// and go from the root down, or to the root. Each takes 2 round trips, each take() 1 or 2 of the
/// rank to itself. A rank needs 1.5 KiB for each rank.
int open_request_windows(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);

}  // namespace tutti
