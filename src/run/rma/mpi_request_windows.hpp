/// Windows as notifications of one-sided operations: the system of Paznikov 2024.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "run/rma/mpi_window.hpp"
#include "run/rma/notifications.hpp"

namespace tutti {

/// Three windows (Paznikov 2024, figures 3 to 6), which the ranks' threads poll:
///
///     requests       at a rank: how many requests each other rank has made of it, and how many of
///                    its own each has taken
///     descriptions   at a rank: the control messages of the latest 16 requests of each other rank
///     done counters  at a root: how many ranks have completed, for each of 64 operations
///
/// A request is a description, a flush, a counter and a flush: with the signal first, as printed,
/// that may overtake the description. The paper has one flag and one description for each pair of
/// ranks, which two roots with a common parent overwrite; here a sender waits while 16 requests are
/// not taken. Counters only grow, and are read by atomic operations of the rank on itself.
/// Notifications carry no data, list no order, and go from the root down, or to the root. Each
/// takes 2 round trips, each take() 1 or 2 of the rank to itself. A rank needs 1.5 KiB for each
/// rank.
class RmaRequestWindows : public RmaNotifications {
 public:
  /// Collective over `comm`. Returns an MPI error code.
  static int open(MPI_Comm comm, std::unique_ptr<RmaNotifications>& made);
  int close() override;
  [[nodiscard]] bool can_post(const RmaControlMessage& control, Rank to) const override;
  [[nodiscard]] std::span<std::byte> compose(RmaControlMessage control,
                                             const std::vector<Rank>& order,
                                             Bytes carried) override;
  int post(Rank to) override;
  [[nodiscard]] std::optional<RmaMessage> take(int& error) override;

 private:
  using Count = std::int64_t;
  static constexpr std::size_t slots = 16;     ///< descriptions of one rank at another
  static constexpr std::size_t counters = 64;  ///< operations of a root whose ranks are counted

  /// An operation of this rank whose end the others count.
  struct Awaited {
    RmaControlMessage control;
    Rank heard = 0;  ///< ranks that have been reported, of all others
    bool is_on = false;
  };

  RmaRequestWindows(Rank rank, int p);
  int read_counters();
  int take_request(Rank from, RmaMessage& received);
  bool take_done(RmaMessage& received);

  Rank rank_;
  int p_;
  AllocatedWindow requests_;
  AllocatedWindow descriptions_;
  AllocatedWindow done_;
  RmaControlMessage composed_;
  std::vector<Count> made_;       ///< by rank: requests of this rank
  std::vector<Count> taken_;      ///< by rank: requests to this rank that take() has returned
  std::vector<Count> requested_;  ///< the numbers of `requests_`, as last read
  std::vector<Count> completed_;  ///< those of `done_`
  std::vector<Count> reported_;   ///< of `completed_`, by take()
  std::array<Awaited, counters> awaited_{};
};

}  // namespace tutti
