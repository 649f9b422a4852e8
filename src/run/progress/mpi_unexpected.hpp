/// Messages that arrive before their rank does, received by the background thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <vector>

#include "run/background.hpp"
#include "run/progress/mpi_async_calls.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

/// Stands before another transport of the same communicator. Between calls the background thread
/// receives what has come into memory of Tutti's own, never into the program's; a call takes from
/// there what it would have received, in the sequence in which it was sent. For plain calls, whose
/// buffers nobody knows before they are made: a large block is here when its rank arrives, and
/// whoever sent it has not had to wait.
class UnexpectedMessages final : public Transport, public BackgroundTask {
 public:
  UnexpectedMessages(Transport& inner, MPI_Comm comm, Executor& executor,
                     GatherScatterPlanner& planner, Rank rank, int p)
      : inner_(inner), comm_(comm), calls_(executor, planner, *this, comm, rank, p) {
    Background::of_process().add(*this);
  }
  ~UnexpectedMessages() override;
  UnexpectedMessages(const UnexpectedMessages&) = delete;
  UnexpectedMessages& operator=(const UnexpectedMessages&) = delete;

  /// Takes in the announcements that are still on their way, at the end of all calls. False if some
  /// have not come for `max_seconds`, as their sender is that late or has failed: they may come
  /// yet, so that their communicator must not go.
  [[nodiscard]] bool settle(double max_seconds = 5);

  /// To be held during a call.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn() { return std::unique_lock(mutex_); }

  /// The call that is made, and probably later ones, may come early.
  void expect();
  /// The call that is made does not. After `max_calls_without` in a row the thread rests until
  /// expect() is called, so that a choice that was given up costs nothing.
  void count_call_without() { ++calls_without_; }

  /// Calls that this rank has not made yet. Not to be used without the turn.
  [[nodiscard]] AsyncCalls& calls() { return calls_; }

  Progress proceed() override;

  int begin(int slot, const Transfer& transfer) override;
  int poll(std::vector<int>& completed) override;
  int copy(const Region& from, const Region& to) override { return inner_.copy(from, to); }
  void idle() override { inner_.idle(); }
  void abandon() override;

 private:
  struct Message {
    Rank peer;
    int tag;
    std::vector<std::byte> packed;
    MPI_Request request{};
    bool is_here = false;
    bool is_claimed = false;
    int slot = 0;
    Region region = {};
  };

  int receive(bool& moved);
  int receive_next(bool& moved);
  void take_announcements();
  static int test(Message& message);
  int hand_over(Message& message);

  static constexpr int max_calls_without = 64;

  Transport& inner_;
  MPI_Comm comm_;
  std::atomic<long> calls_without_ = 0;
  std::mutex mutex_;
  std::list<Message> messages_;  ///< in the sequence of their arrival
  std::size_t kept_ = 0;         ///< bytes
  int error_ = MPI_SUCCESS;      ///< met by the background thread
  AsyncCalls calls_;
};

}  // namespace tutti
