/// Letters to and from other ranks, moved by whichever thread is there, none of which waits for
/// another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// Letters of whole words between ranks. Between two ranks they arrive in the sequence in which
/// they were sent. Not to be used by two threads at once. Functions return an error code, 0 for
/// none, and wait for nobody.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  /// What cannot be sent is tried again later, here or in receive().
  virtual int send(Rank to, std::vector<std::int64_t> words) = 0;
  /// Puts the next message into `words`, which is empty if there is none yet. May fail and bring a
  /// message all the same, and can be called again.
  virtual int receive(Rank& from, std::vector<std::int64_t>& words) = 0;
  /// RmaState that was sent has left this rank's memory, as far as receive() has noticed.
  [[nodiscard]] virtual bool is_empty() const = 0;
};

/// A channel that several threads use, one of them at a time. The channel's functions may take
/// long (they progress the MPI): who writes a message never waits for them, and who finds another
/// thread at it relies on that one. All functions may be called by several threads at once.
class MessageQueue {
 public:
  /// Takes messages, in the sequence of their arrival and by one thread at once; it may write().
  using Reader = std::function<void(Rank from, const std::vector<std::int64_t>& words)>;

  void open(std::unique_ptr<ControlChannel> channel, Reader reader);
  /// No other thread may use this any more.
  void close();

  /// Letters leave in the sequence of these calls, at the next turn.
  void write(Rank to, std::vector<std::int64_t> words);
  /// Sends and takes all that is there; true if this thread took any. Does nothing where another
  /// thread is at it: that one looks once more for what is written before it goes.
  bool take_turn();
  /// Sends what is written and takes one message, in this thread's turn, for which it waits. Sets
  /// `moved` if there was one and `over` if nothing is left to send. Returns the error that it met.
  int take_own_turn(bool& moved, bool& over);
  /// The first error of all turns, or of fail().
  [[nodiscard]] int first_error() const;
  /// A message of this rank's is lost to `error`, which is not 0.
  void fail(int error);

 private:
  int exchange(bool& moved);
  [[nodiscard]] bool is_written() const;

  std::mutex turn_;  ///< of the channel and the reader; `mutex_` may be locked meanwhile
  std::unique_ptr<ControlChannel> channel_;
  Reader reader_;

  struct ControlMessage {
    Rank to;
    std::vector<std::int64_t> words;
  };
  mutable std::mutex mutex_;  ///< of what follows; never held for long
  std::vector<ControlMessage> written_;
  int error_ = 0;
};

}  // namespace tutti
