/// One-sided collectives of a communicator: only the root calls them, all other ranks serve them.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "run/background.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/node/mpi_node.hpp"
#include "run/rma/mpi_notifications.hpp"
#include "run/rma/mpi_operation.hpp"
#include "run/rma/mpi_window.hpp"

namespace tutti {

/// The one-sided collectives of one communicator. The next thread to poll takes the notifications
/// that have arrived: the background thread (Paznikov's Broadcaster), or a thread
/// that waits in a call. Each rank runs its program of an operation until it must wait. The root
/// alone selects the algorithm, because its notifications name it.
class RmaSystem : public BackgroundTask {
 public:
  /// Collective. MPI_ERR_UNSUPPORTED_OPERATION on all ranks if one of them cannot have a background
  /// thread. Notifications in windows are possible if some rank sets `wants_windows`. Returns an
  /// MPI error code.
  static int open(MPI_Comm comm, const NodeSettings& settings, bool wants_windows,
                  std::unique_ptr<RmaSystem>& made);
  ~RmaSystem() override;
  /// Completes this rank's operations, and waits until all others have done so. Collective.
  int close();

  /// Gives the window a number, equal on all ranks. If `watch` fails on a rank, that rank returns
  /// its error, all others MPI_ERR_OTHER, and the window is not added. Collective.
  int add_window(MPI_Win handle, int (*watch)(MPI_Win, RmaSystem&), int& number);
  /// Completes all operations on it first. Collective; MPI_ERR_WIN if there is no such window.
  int remove_window(int number);
  /// For a window that is already freed: its active operations end with MPI_ERR_WIN.
  void lose_window(int number);
  [[nodiscard]] bool has_window(int number);
  /// The number of this window; -1 if it has none. Never waits, because the MPI may call it while
  /// it keeps other threads out.
  [[nodiscard]] int number_of(MPI_Win handle);

  /// Begins an operation with the window, region, specification and combination of `control`, and
  /// with `order` and `users` as RmaOperation has them. Until `outcome` is set, `users` must not be
  /// changed, or read if the data flow to the root. This rank's own window has its data on return,
  /// unless an earlier operation of this rank on the same bytes is active: then this one starts
  /// after that. MPI_ERR_WIN, MPI_ERR_RMA_RANGE; MPI_ERR_UNSUPPORTED_OPERATION if it needs
  /// notifications in windows, and lists an order or there are none.
  int begin(RmaControlMessage control, std::vector<Rank> order, std::byte* users,
            std::shared_ptr<RmaOutcome> outcome);
  /// Makes progress on all operations until `is_over()`. Yields the core, for longer after many
  /// rounds in vain.
  int wait(const std::function<bool()>& is_over);
  /// Sets `number`: all operations of `root` on the window up to it have arrived here.
  int arrived(int window, Rank root, std::int64_t& number);
  /// Makes all progress that needs no waiting. Returns an MPI error code; an error stays.
  int go_on();

  [[nodiscard]] int p() const { return p_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.handle(); }
  /// Do puts arrive while the target rank computes outside the MPI?
  [[nodiscard]] bool progresses() const { return progresses_; }
  /// The mean wait of a notification for a thread that polls as seldom as this rank's does now: if
  /// nothing has moved here for a while, little has moved elsewhere.
  [[nodiscard]] std::chrono::microseconds expected_wait();
  /// The nodes that ranks probably share.
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  /// By rank: the mean seconds since a thread's last poll when a notification of this rank's
  /// operations came. The latest ones count most; 0 if there was none.
  [[nodiscard]] std::vector<double> delays();

  Progress proceed() override;
  [[nodiscard]] std::chrono::microseconds patience() const override {
    return std::chrono::milliseconds(8);
  }
  [[nodiscard]] std::chrono::microseconds eagerness() const override {
    return std::chrono::microseconds(200);
  }

 private:
  RmaSystem() = default;
  int find_number(int& number);
  int meet();
  void advance();
  bool move();
  bool take_messages();
  void take(RmaMessage& received);
  bool start_waiting();
  [[nodiscard]] bool is_in_the_way(const RmaOperation& operation) const;
  void start(RmaOperation& operation);
  void end(RmaOperation& operation);
  void note_arrival(RmaOperation& operation);
  std::unique_ptr<RmaNotifications>& of(Notifications protocol) {
    return notifications_[static_cast<std::size_t>(protocol)];
  }
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  [[nodiscard]] bool has_own_operations(int window) const;
  int first_window();
  int drop_window(int number);
  void note_handle(int number, const MPI_Win* handle);

  OwnedComm comm_;
  Rank rank_ = 0;
  int p_ = 1;
  bool progresses_ = false;
  Nodes nodes_;
  std::array<std::unique_ptr<RmaNotifications>, 2> notifications_;  ///< by protocol; some null
  std::mutex handles_mutex_;  ///< for handles_; never held while calling the MPI
  std::map<int, MPI_Win> handles_;
  std::mutex mutex_;  ///< for the members below, and notifications_
  std::map<int, std::unique_ptr<RmaWindow>> windows_;
  std::list<RmaOperation> own_;      ///< active, begun by this rank
  std::list<RmaOperation> waiting_;  ///< begun by this rank, waiting for active ones
  std::list<RmaOperation> others_;
  std::int64_t begun_ = 0;
  std::vector<double> delays_;
  std::chrono::steady_clock::time_point looked_;
  std::chrono::steady_clock::time_point moved_;
  std::chrono::steady_clock::time_point seen_;  ///< moved_ at the thread's last poll
  int error_ = MPI_SUCCESS;
};

}  // namespace tutti
