/// Operations on windows that only their root calls, and the part of all others in them.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "run/background.hpp"
#include "run/mpi/owned_comm.hpp"
#include "run/node/mpi_node.hpp"
#include "run/rma/mpi_message_queue.hpp"
#include "run/rma/mpi_operation.hpp"
#include "run/rma/mpi_window.hpp"

namespace tutti {

/// Lets others have the core, for longer after many rounds in vain.
void give_up_core(long rounds);

/// The one-sided collectives of one communicator. Requests arrive in the queue; whoever is there
/// takes them: the background thread (Paznikov's Broadcaster), or a thread that waits in a call.
/// Each operation is the schedule of its rank, gone through step by step. The root alone decides on
/// the algorithm, as its requests say which one it is.
class RmaSystem : public BackgroundTask {
 public:
  /// Collective. MPI_ERR_UNSUPPORTED_OPERATION on all ranks if one of them cannot have a background
  /// thread. Returns an MPI error code.
  static int open(MPI_Comm comm, const NodeSettings& settings, std::unique_ptr<RmaSystem>& made);
  ~RmaSystem() override;
  /// Completes what this rank has begun, and awaits that all others have done so. Collective.
  int close();

  /// Gives the window a number that is the same on all ranks. Collective, as is what has to follow.
  int add_window(MPI_Win handle, int& number);
  /// Keeps it, unless some rank has met an error since: there that is returned, on all others
  /// MPI_ERR_OTHER, and the window has not been added.
  int confirm_window(int number, int error);
  /// Completes all operations on it first. Collective; MPI_ERR_WIN if there is no such window.
  int remove_window(int number);
  /// For a window that is gone already: what is under way on it ends with MPI_ERR_WIN.
  void lose_window(int number);
  [[nodiscard]] bool has_window(int number);
  /// The number of this window; -1 if it has none. Waits for nothing, so that the MPI may ask
  /// while it keeps other threads out.
  [[nodiscard]] int number_of(MPI_Win handle);

  /// Begins an operation, whose buffer must not change, or be read, until `outcome` is over. What
  /// is for this rank's own window is there when the call returns, if no earlier operation of this
  /// rank on the same bytes is under way, after which this one starts. MPI_ERR_WIN,
  /// MPI_ERR_RMA_RANGE.
  int begin(const RmaCall& call, int window, std::shared_ptr<RmaOutcome> outcome);
  /// Goes on with everything until `is_over()`.
  template <class Over>
  int wait(Over is_over);
  /// Sets `number` to that up to which all operations of `root` on the window have arrived here.
  int arrived(int window, Rank root, std::int64_t& number);
  /// Does what can be done now. Returns an MPI error code, which stays.
  int go_on();

  [[nodiscard]] int p() const { return p_; }
  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.handle(); }
  /// Puts arrive while the rank that they reach computes outside the MPI.
  [[nodiscard]] bool progresses() const { return progresses_; }
  /// How long a notification waits on average for a thread that looks as seldom as this rank's does
  /// by now: where nothing has moved here for a while, hardly more has elsewhere.
  [[nodiscard]] std::chrono::microseconds expected_wait();
  /// Which ranks seem to share nodes.
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  /// How long each rank's thread had not looked when a notification for an operation of this rank
  /// came, in seconds, on average, the latest ones counting most; 0 where none has.
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
  int open_here(MPI_Comm comm, const NodeSettings& settings);
  int find_number(int& number);
  int largest_of_all(int mine, int& largest);
  int meet();
  bool move();
  bool take_messages();
  void take(RmaMessage& received);
  bool start_waiting();
  [[nodiscard]] bool is_in_the_way(const RmaOperation& operation) const;
  void begin(RmaOperation& operation);
  void end(RmaOperation& operation);
  void note_arrival(RmaOperation& operation);
  bool run(RmaOperation& operation);
  bool step(RmaOperation& operation, const Step& step);
  bool notify(RmaOperation& operation, const Step& step);
  void note(int error) {
    if (error_ == MPI_SUCCESS) error_ = error;
  }
  [[nodiscard]] bool has_own_operations(int window) const;
  void forget(std::int64_t operation);
  int drop_window(int number);
  void note_handle(int number, const MPI_Win* handle);

  OwnedComm comm_;
  Rank rank_ = 0;
  int p_ = 1;
  bool progresses_ = false;
  bool is_task_ = false;
  Nodes nodes_;
  std::unique_ptr<RmaMessageQueue> queue_;
  std::mutex handles_mutex_;  ///< of what follows; nobody calls the MPI with it
  std::map<int, MPI_Win> handles_;
  std::mutex mutex_;  ///< of all that follows, and of the queue
  std::map<int, std::unique_ptr<RmaWindow>> windows_;
  std::list<RmaOperation> own_;      ///< under way, begun by this rank
  std::list<RmaOperation> waiting_;  ///< for those
  std::list<RmaOperation> others_;
  std::int64_t begun_ = 0;
  std::vector<double> delays_;
  std::chrono::steady_clock::time_point looked_;
  std::chrono::steady_clock::time_point moved_;
  std::chrono::steady_clock::time_point seen_;  ///< moved_ when the thread looked last
  int error_ = MPI_SUCCESS;
};

template <class Over>
int RmaSystem::wait(Over is_over) {
  for (long rounds = 0; !is_over(); ++rounds) {
    if (const int error = go_on()) return error;
    give_up_core(rounds);
  }
  return MPI_SUCCESS;
}

}  // namespace tutti
