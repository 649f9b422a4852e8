/// Messages between threads of one process: real concurrency without an MPI.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "run/transport/transport.hpp"

namespace tutti {

/// Memory in several ranges. A region whose type is the address of a Stretches stands for all of
/// them; its count is their total bytes.
using Stretches = std::vector<std::pair<std::byte*, std::int64_t>>;

/// The message queues that the transports of p threads share.
class ThreadNetwork {
 public:
  explicit ThreadNetwork(int p) : p_(p) {}
  [[nodiscard]] int size() const { return p_; }

 private:
  friend class ThreadTransport;
  using Key = std::tuple<Rank, Rank, int>;  ///< source, destination, tag

  /// A message that its sender has begun; it completes when the receiver has taken it.
  struct Message {
    Region region;
    bool* taken = nullptr;
  };

  int p_;
  std::mutex mutex_;
  std::map<Key, std::deque<Message>> waiting_;
};

/// One thread's transport. Sends complete only when they are received (rendezvous), so a schedule
/// that needs buffering hangs in tests, not in production.
class ThreadTransport final : public Transport {
 public:
  /// The error code if a receive is shorter than its message.
  static constexpr int truncated = 1;

  ThreadTransport(ThreadNetwork& network, Rank rank) : network_(network), rank_(rank) {}
  ~ThreadTransport() override;
  ThreadTransport(const ThreadTransport&) = delete;
  ThreadTransport& operator=(const ThreadTransport&) = delete;

  int begin(int slot, const Transfer& transfer) override;
  int poll(std::vector<int>& completed) override;
  int copy(const Region& from, const Region& to) override;
  void idle() override;
  void abandon() override;

  /// The messages that this rank waits for, for a watchdog: "recv from 3 tag 1024, ..".
  [[nodiscard]] std::string waits_for();

 private:
  struct Open {
    int slot;
    Transfer transfer;
    bool taken;
  };

  ThreadNetwork& network_;
  Rank rank_;
  std::deque<Open> open_;  ///< addresses of `taken` stay valid while others are added
};

}  // namespace tutti
