/// The thread of the watchdog.
#include "bench/watchdog.hpp"

#include <unistd.h>

#include <cstdio>

namespace tutti::bench {

namespace {
constexpr int stuck_status = 3;
}

Watchdog::Watchdog(Rank rank, int seconds)
    : rank_(rank),
      limit_(seconds),
      since_(std::chrono::steady_clock::now()),
      thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::enter(std::string_view what, Bytes block, int repetition) {
  const std::lock_guard lock(mutex_);
  what_[what.copy(what_.data(), what_.size() - 1)] = '\0';
  block_ = block;
  repetition_ = repetition;
  since_ = std::chrono::steady_clock::now();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    // Each call moves the deadline. enter() does not wake the thread, because that would cost the
    // measured ranks a system call.
    if (changed_.wait_until(lock, since_ + limit_) == std::cv_status::timeout && !stop_ &&
        std::chrono::steady_clock::now() >= since_ + limit_) {
      const std::string what = what_.data();
      give_up(what.empty() ? "start"
                           : what + ", block " + std::to_string(block_) + ", repetition " +
                                 std::to_string(repetition_));
    }
  }
}

void Watchdog::give_up(const std::string& where) const {
  std::fprintf(stderr, "tutti-bench: rank %d: no progress for %lld s in %s\n", rank_,
               static_cast<long long>(limit_.count()), where.c_str());
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  _exit(stuck_status);
}

}  // namespace tutti::bench
