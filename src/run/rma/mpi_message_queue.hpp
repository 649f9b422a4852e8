/// Notifications of one-sided operations, as messages from thread to thread.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/mpi/functions.hpp"
#include "run/rma/control_message.hpp"

namespace tutti {

/// A notification that has come.
struct RmaMessage {
  Rank from = no_rank;
  RmaControlMessage control;
  std::vector<Rank> order;             ///< if it is listed
  std::span<const std::byte> carried;  ///< until the next one is taken
};

/// Whoever serves the windows of a rank takes from here what others tell it; those of one sender in
/// the sequence in which they were sent. Nothing here waits for others. All functions return an
/// MPI error code unless they say otherwise. Not to be used by two threads at once.
class RmaMessageQueue {
 public:
  /// All messages between two ranks on `comm` are the queue's. 256 KiB on each rank, besides what
  /// is on its way.
  static int open(MPI_Comm comm, std::unique_ptr<RmaMessageQueue>& made);
  /// Nothing may be on its way to any rank.
  int close();

  /// False while as many messages to that rank as may be are still in the hands of the MPI.
  [[nodiscard]] bool can_post(Rank to) const;
  /// Begins a control that carries so many bytes, up to max_carried, and lists an order, or none.
  /// Returns where to write them.
  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control,
                                             const std::vector<Rank>& order, Bytes carried);
  /// Sends what was composed last. What it tells of must have been flushed: nothing keeps messages
  /// and puts in order.
  int post(Rank to);
  /// Gives the MPI time to move whatever it has to. The next control, if one has come.
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
  std::array<Receive, 8> receives_;  ///< in the sequence in which messages fill them, in a circle
  std::size_t next_ = 0;             ///< of them
  Receive* taken_ = nullptr;         ///< whose message the caller is looking at
  std::vector<std::byte> composed_;
  std::vector<MPI_Request> sends_;
  std::vector<Rank> receivers_;                   ///< of those
  std::vector<std::vector<std::byte>> messages_;  ///< of those
  std::vector<std::vector<std::byte>> spare_;
  std::vector<int> on_way_;  ///< by rank: of `sends_`
  std::vector<int> sent_;    ///< which of them, by the MPI
};

}  // namespace tutti
