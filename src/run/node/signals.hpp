/// Signals in memory that the processes of a node share, and waiting for them.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti {

/// What a process does now and then while it waits for another one of its node. The other may need
/// it: MPIs move messages only while their functions are called.
class WhileWaiting {
 public:
  virtual ~WhileWaiting() = default;
  /// Never blocks. An error ends the wait.
  virtual int progress() = 0;
};

/// How long to wait in which way. A process with a core of its own is fastest when it spins; one
/// that shares a core keeps away whom it waits for.
struct Patience {
  int spins = 0;   ///< looks without giving up the core
  int yields = 0;  ///< looks after giving up the core, before it sleeps between them
};
inline constexpr Patience patience_alone = {4000, 200};
inline constexpr Patience patience_sharing = {30, 2000};

/// A count that only grows, on a cache line of its own. What a process has written before it
/// signals the signal is seen by whoever has seen the signal signalled (release, acquire). It never
/// comes to the end of its numbers, so nobody need stay near it. Zeroed memory is a signal that was
/// never signalled. Lies in memory of several processes and of no one's time.
class alignas(64) NodeSignal {
 public:
  using Count = std::uint64_t;

  /// Wakes who waits for it. Any process may signal it.
  void signal(Count by = 1) noexcept;
  /// The same where only one process signals the signal: to `count`.
  void signal_to(Count count) noexcept;
  [[nodiscard]] bool has_reached(Count count) const noexcept {
    return count_.load(std::memory_order_acquire) >= count;
  }
  [[nodiscard]] Count count() const noexcept { return count_.load(std::memory_order_acquire); }

  /// Waits until the signal has reached `count`: spins, then yields, then sleeps for up to a
  /// millisecond at a time; calls `meanwhile` between, at the latest after each sleep, so that
  /// neither messages nor the end of the job wait for this signal. Returns 0, or the error of
  /// `meanwhile`.
  int wait(Count count, const Patience& patience, WhileWaiting& meanwhile) noexcept;

 private:
  void wake() noexcept;
  int sleep(Count count, WhileWaiting& meanwhile) noexcept;

  std::atomic<Count> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};  ///< at least so many processes sleep
};
static_assert(sizeof(NodeSignal) == 64);
static_assert(std::atomic<NodeSignal::Count>::is_always_lock_free,
              "signals are shared by processes");

}  // namespace tutti
