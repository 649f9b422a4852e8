/// Raises signals and waits for them.
#include "run/node/signals.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>

namespace tutti {

namespace {

/// Checks between two calls of WhileWaiting.
constexpr int checks_between_progress = 64;
constexpr std::int64_t longest_sleep = 1'000'000;  ///< nanoseconds, but for a longer first one

void pause_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

/// The low half of a count: the kernel compares words of 32 bits. A sleeper notices a change of the
/// high half alone at the latest when its sleep ends.
std::uint32_t* low_word(std::atomic<NodeSignal::Count>& count) noexcept {
  return reinterpret_cast<std::uint32_t*>(&count) +
         (std::endian::native == std::endian::big ? 1 : 0);
}

/// The kernel sleeps only if the word still equals `value`, so no signal in between is missed.
void futex_wait(std::atomic<NodeSignal::Count>& count, NodeSignal::Count value,
                std::int64_t nanoseconds) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec limit{nanoseconds / second, nanoseconds % second};
  syscall(SYS_futex, low_word(count), FUTEX_WAIT, static_cast<std::uint32_t>(value), &limit,
          nullptr, 0);
}

void futex_wake(std::atomic<NodeSignal::Count>& count) noexcept {
  syscall(SYS_futex, low_word(count), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

// Either the signalling process sees the sleeper, or the sleeper sees the count: both sides are in
// one total order.
void NodeSignal::signal_to(Count count) noexcept {
  count_.store(count, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(count_);
}

int NodeSignal::wait(Count count, const Patience& patience,
                     const WhileWaiting& meanwhile) noexcept {
  int checks = 0;
  for (; !has_reached(count); ++checks) {
    if (checks >= patience.spins + patience.yields) return sleep(count, patience, meanwhile);
    if (checks < patience.spins) {
      pause_core();
    } else {
      sched_yield();
    }
    if (checks % checks_between_progress != checks_between_progress - 1) continue;
    if (const int error = meanwhile()) return error;
  }
  return 0;
}

int NodeSignal::sleep(Count count, const Patience& patience,
                      const WhileWaiting& meanwhile) noexcept {
  int error = 0;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  for (std::int64_t limit = patience.first_sleep; error == 0;
       limit = std::min(2 * limit, longest_sleep)) {
    const Count seen = count_.load(std::memory_order_seq_cst);
    if (seen >= count) break;
    futex_wait(count_, seen, limit);
    error = meanwhile();
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return error;
}

}  // namespace tutti
