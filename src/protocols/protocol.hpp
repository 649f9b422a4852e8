/// The interface of protocols by which ranks acquire knowledge; it leaves out the transport.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/types.hpp"

namespace tutti {

/// One step of a protocol: all its messages are in flight at once.
struct Exchange {
  struct Message {
    Rank peer = no_rank;
    int tag = 0;
    std::vector<std::int64_t> words;  ///< a received message comes with its length set
  };
  std::vector<Message> sends;
  std::vector<Message> recvs;

  [[nodiscard]] bool empty() const { return sends.empty() && recvs.empty(); }
};

/// One rank's side of a protocol: a coroutine that yields exchanges, and goes on once they are
/// completed. The caller moves the messages: by MPI, by threads or in a test. What the coroutine
/// has references to outlives it.
class Protocol {
 public:
  struct promise_type;

  explicit Protocol(std::coroutine_handle<promise_type> coroutine) : coroutine_(coroutine) {}
  Protocol(Protocol&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  Protocol& operator=(Protocol&&) = delete;
  ~Protocol() {
    if (coroutine_) coroutine_.destroy();
  }

  /// The next exchange, never an empty one; complete it before the next call. Null once this rank
  /// has nothing more to exchange: then do not call it again.
  [[nodiscard]] Exchange* next();

 private:
  std::coroutine_handle<promise_type> coroutine_;
};

/// What the compiler calls in such a coroutine.
struct Protocol::promise_type {
  /// Suspends it unless the exchange is empty.
  struct Completion {
    bool is_ready;
    [[nodiscard]] bool await_ready() const noexcept { return is_ready; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    void await_resume() const noexcept {}
  };

  Exchange* exchange = nullptr;

  Protocol get_return_object() {
    return Protocol(std::coroutine_handle<promise_type>::from_promise(*this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  Completion yield_value(Exchange& next) noexcept {
    if (!next.empty()) exchange = &next;
    return {next.empty()};
  }
  void return_void() noexcept {}
  void unhandled_exception() { throw; }
};

inline Exchange* Protocol::next() {
  coroutine_.promise().exchange = nullptr;
  coroutine_.resume();
  return coroutine_.promise().exchange;
}

}  // namespace tutti
