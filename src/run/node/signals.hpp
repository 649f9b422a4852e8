/// Signals in node memory, and waiting for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tutti {

/// Work that a process repeats while it waits for another one of its node. The other may depend on
/// it: MPIs move messages only while their functions are called. Never blocks nor throws, and is
/// not empty. An error code other than 0 ends the wait.
using WhileWaiting = std::function<int()>;

/// How often a waiting process checks before it yields, then before it sleeps. Spinning is fastest
/// with a core of its own; on a shared core it delays the process that it waits for.
struct Patience {
  int spins = 0;   ///< checks without giving up the core
  int yields = 0;  ///< checks after yielding the core; then it sleeps between checks
  std::int64_t first_sleep = 50'000;  ///< nanoseconds; later ones take twice as long, up to 1 ms
};
inline constexpr Patience patience_alone = {4000, 200};
inline constexpr Patience patience_sharing = {30, 2000};

/// A counter in node memory that only grows, on a cache line of its own. Each rank owns one, and
/// only its owner raises it. A process that sees a count also sees what the owner wrote before
/// (release, acquire). 64 bits never overflow, so ranks may be any number of calls apart. Zeroed
/// memory is a signal at 0: no process constructs or destroys it.
class alignas(64) NodeSignal {
 public:
  using Count = std::uint64_t;

  /// Sets the signal to `count`, not below its value, and wakes waiting processes. For the only
  /// writer.
  void signal_to(Count count) noexcept;
  [[nodiscard]] bool has_reached(Count count) const noexcept {
    return count_.load(std::memory_order_acquire) >= count;
  }

  /// Waits until the signal reaches `count`: spins, then yields, then sleeps. Calls `meanwhile` in
  /// between, at the latest after each sleep, so that neither messages nor the end of the job wait
  /// for this signal. Returns 0, or the error of `meanwhile`.
  int wait(Count count, const Patience& patience, const WhileWaiting& meanwhile) noexcept;

 private:
  int sleep(Count count, const Patience& patience, const WhileWaiting& meanwhile) noexcept;

  std::atomic<Count> count_{0};
  std::atomic<std::uint32_t> sleepers_{0};  ///< an upper bound on sleeping processes
};
static_assert(sizeof(NodeSignal) == 64);
static_assert(std::atomic<NodeSignal::Count>::is_always_lock_free,
              "signals are shared by processes");

}  // namespace tutti
