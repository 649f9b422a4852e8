/// Control messages between ranks; any thread may move them, and none waits for another.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// The words of a message; messages to several ranks share them.
using ControlWords = std::shared_ptr<const std::vector<std::int64_t>>;

/// Control messages of whole words between ranks. Between two ranks they arrive in the sequence in
/// which they were sent. One thread at a time. Functions return an error code, 0 for none, and do
/// not wait.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  /// Sends a message, which an error loses, but not an exception.
  virtual int send(Rank to, ControlWords words) = 0;
  /// Sets `words` to the next message; empty if there is none yet. May return an error together
  /// with a message, and can then be called again.
  virtual int receive(Rank& from, std::vector<std::int64_t>& words) = 0;
  /// True if all messages have left this rank's memory, as far as receive() has noticed.
  [[nodiscard]] virtual bool is_empty() const = 0;
};

/// A channel that several threads share; a thread uses it in its turn. The channel's functions may
/// take long, because they progress the MPI. A thread that writes a message never waits for them,
/// and a thread that finds the turn taken relies on its owner. Thread-safe, but for close().
class MessageQueue {
 public:
  /// Takes messages in the sequence of their arrival, in one thread at a time; it may write().
  using Reader = std::function<void(Rank from, const std::vector<std::int64_t>& words)>;

  void open(std::unique_ptr<ControlChannel> channel, Reader reader);
  /// Drops unsent messages: call take_own_turn() until `over` first. No other thread may use the
  /// queue any more.
  void close();

  /// Queues a message. Messages leave in the sequence of these calls, at the next turn.
  void write(Rank to, ControlWords words);
  /// Sends and receives all messages; true if this thread received any. Does nothing while another
  /// thread has the turn: that thread checks again for written messages afterwards.
  bool take_turn();
  /// Waits for the turn, sends the written messages and receives one. Sets `over` if nothing is
  /// left to send. Returns the first error of this turn.
  int take_own_turn(bool& over);
  /// The first error of all turns and of fail().
  [[nodiscard]] int first_error() const;
  /// Records that a message of this rank is lost to `error`, which is not 0.
  void fail(int error);

 private:
  int exchange(bool& moved);
  [[nodiscard]] bool is_written() const;

  std::mutex turn_;  ///< guards channel and reader; its owner may lock `mutex_`
  std::unique_ptr<ControlChannel> channel_;
  Reader reader_;

  struct ControlMessage {
    Rank to;
    ControlWords words;
  };
  mutable std::mutex mutex_;  ///< guards the members below; never held for long
  std::list<ControlMessage> written_;
  int error_ = 0;
};

}  // namespace tutti
