/// The message queue for notifications of one-sided operations.
#pragma once

#include <array>
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

/// The thread that serves a rank's windows takes the messages of other ranks from here; those of
/// one sender in the sequence in which they were sent. No function waits for other ranks. All
/// return an MPI error code unless they say otherwise. Not to be used by two threads at once.
class RmaMessageQueue {
 public:
  /// The queue owns all messages between two ranks on `comm`. It takes 256 KiB on each rank,
  /// besides messages in transit.
  static int open(MPI_Comm comm, std::unique_ptr<RmaMessageQueue>& made);
  /// No message may be in transit to any rank.
  int close();

  /// False while the MPI holds the maximum number of messages to that rank.
  [[nodiscard]] bool can_post(Rank to) const;
  /// Begins a control message that carries `carried` bytes, up to max_carried, and lists an order,
  /// or none. Returns where to write the bytes.
  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control,
                                             const std::vector<Rank>& order, Bytes carried);
  /// Sends the message that was composed last. Flush the puts that it announces first: MPI does not
  /// order messages after puts.
  int post(Rank to);
  /// Lets the MPI make progress. Returns the next control message, if one has come.
  [[nodiscard]] std::optional<RmaMessage> take(int& error);

 private:
  struct Receive {
    MPI_Request request{};
    std::vector<std::byte> message;
  };

  RmaMessageQueue(MPI_Comm comm, int p)
      : comm_(comm), p_(p), on_way_(static_cast<std::size_t>(p)) {}
  int receive(Receive& receive);
  int forget_sent();

  MPI_Comm comm_;
  int p_;
  std::array<Receive, 8> receives_;  ///< a ring, in the sequence in which messages fill them
  std::size_t next_ = 0;             ///< the receive that is filled next
  Receive* taken_ = nullptr;         ///< its message is in use by the caller
  std::vector<std::byte> composed_;
  std::vector<MPI_Request> sends_;
  std::vector<Rank> receivers_;                   ///< of `sends_`
  std::vector<std::vector<std::byte>> messages_;  ///< of `sends_`
  std::vector<std::vector<std::byte>> spare_;
  std::vector<int> on_way_;  ///< by rank: number of `sends_` to it
  std::vector<int> sent_;    ///< indices of completed `sends_`
};

}  // namespace tutti
