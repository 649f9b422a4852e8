/// Messages as notifications of one-sided operations.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <vector>

#include "run/mpi/functions.hpp"
#include "run/rma/notifications.hpp"

namespace tutti {

/// Notifications as messages between the ranks' threads, in which data may travel.
class RmaMessageQueue : public RmaNotifications {
 public:
  /// The queue owns all messages between two ranks on `comm`. It takes 256 KiB on each rank,
  /// besides messages in transit. Returns an MPI error code.
  static int open(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);
  int close() override;
  /// False while the MPI holds the maximum number of messages to that rank.
  [[nodiscard]] bool can_post(const RmaControlMessage& control, Rank to) const override;
  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control,
                                             const std::vector<Rank>& order,
                                             Bytes carried) override;
  int post(Rank to) override;
  [[nodiscard]] std::optional<RmaMessage> take(int& error) override;

 private:
  struct Send {
    MPI_Request request = mpi().request_null;
    Rank to = no_rank;
    std::vector<std::byte> message;
  };
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
  std::list<Send> sends_;
  std::list<Send> spare_;    ///< whose memory is reused; the one that was composed last is first
  std::vector<int> on_way_;  ///< by rank: number of `sends_` to it
};

}  // namespace tutti
