/// Unexpected messages: they arrive before their receiver does, and its background thread receives
/// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <vector>

#include "run/background.hpp"
#include "run/communicator/mpi_async_calls.hpp"
#include "run/transport/mpi_transport.hpp"

namespace tutti {

/// Wraps another transport of the same communicator. Between calls the background thread receives
/// messages into Tutti's own memory, never into the program's. A call takes its messages from
/// there, in the sequence in which they were sent. This serves blocking calls, whose buffers are
/// unknown before the call: a large block is here when its receiver arrives, and its sender does
/// not wait.
class UnexpectedMessages final : public Transport, public BackgroundTask {
 public:
  UnexpectedMessages(Transport& inner, PrivateComm& comm);
  ~UnexpectedMessages() override;

  /// Receives the announcements that are in flight after the last call. False if none arrived for
  /// 5 s and some are missing, because their sender is that late or has failed. They may still
  /// arrive, so the communicator must not be freed then.
  [[nodiscard]] bool settle();

  /// The turn, to be held during a call.
  [[nodiscard]] std::unique_lock<std::mutex> take_turn() { return std::unique_lock(mutex_); }

  /// This call, and probably later ones, may have unexpected messages.
  void expect();
  /// This call has none. After `max_calls_without` such calls in succession the thread is idle
  /// until expect() is called, so that an algorithm that is no longer used costs nothing.
  void count_call_without() { ++calls_without_; }

  /// Calls that this rank has not made yet. Requires the turn.
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

  void receive(bool& moved);
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
