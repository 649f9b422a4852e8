/// Rounds and pauses of the background thread.
#include "run/background.hpp"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <system_error>

#include "core/types.hpp"

namespace tutti {

namespace {

constexpr std::chrono::microseconds shortest_pause(50);
constexpr int share_of_quiet_time = 16;
/// How late Linux may wake the thread from a timed wait; its default is 50 us.
constexpr unsigned long timer_slack_nanoseconds = 1000;

std::atomic<Background*> the_background = nullptr;

/// Blocks signals in the threads that are started while it lives, so that the program's threads get
/// the signals to the process. A fault still goes to the thread that causes it.
class SignalsBlocked : NotCopied {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// A child process has none of its parent's threads, and must not use their locks.
void forget_in_child() { the_background = nullptr; }

}  // namespace

Background& Background::of_process() {
  static const int watched = pthread_atfork(nullptr, nullptr, forget_in_child);
  static_cast<void>(watched);
  Background* known = the_background;
  if (known != nullptr) return *known;
  auto* made = new Background;  // outlives every static destructor, and fork() in the child
  if (the_background.compare_exchange_strong(known, made)) return *made;
  delete made;
  return *known;
}

bool Background::start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return true;
  stopping_ = false;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void Background::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  condition_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Background::add(BackgroundTask& task) {
  {
    const std::lock_guard lock(tasks_mutex_);
    tasks_.push_back(&task);
  }
  wake();
}

void Background::remove(BackgroundTask& task) {
  const std::lock_guard lock(tasks_mutex_);
  std::erase(tasks_, &task);
}

void Background::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  condition_.notify_all();
}

std::chrono::microseconds Background::pause_after(Clock::duration quiet,
                                                  std::chrono::microseconds patience) {
  const auto share = std::chrono::duration_cast<std::chrono::microseconds>(quiet);
  return std::clamp(share / share_of_quiet_time, shortest_pause,
                    std::max(patience, shortest_pause));
}

void Background::run() {
  prctl(PR_SET_TIMERSLACK, timer_slack_nanoseconds);
  prctl(PR_SET_NAME, "tutti");
  Clock::time_point moved = Clock::now();
  for (bool more = true; more;) {
    const BackgroundTask::Progress progress = round();
    const Clock::time_point now = Clock::now();
    if (progress == BackgroundTask::Progress::moved) moved = now;
    more = pause(progress, now - moved);
    // After a wake() from the parked state, progress is due soon: start with short pauses.
    if (progress == BackgroundTask::Progress::nothing_expected) moved = Clock::now();
  }
}

BackgroundTask::Progress Background::round() {
  const std::lock_guard lock(tasks_mutex_);
  auto all = BackgroundTask::Progress::nothing_expected;
  longest_pause_ = std::chrono::microseconds::max();
  eagerness_ = std::chrono::microseconds::zero();
  for (BackgroundTask* task : tasks_) {
    const BackgroundTask::Progress progress = task->proceed();
    all = std::max(all, progress);
    if (progress != BackgroundTask::Progress::nothing_expected) {
      longest_pause_ = std::min(longest_pause_, task->patience());
      eagerness_ = std::max(eagerness_, task->eagerness());
    }
  }
  return all;
}

bool Background::pause(BackgroundTask::Progress progress, Clock::duration quiet) {
  std::unique_lock lock(mutex_);
  const auto is_called = [this] { return woken_ || stopping_; };
  if (progress == BackgroundTask::Progress::nothing_expected) {
    condition_.wait(lock, is_called);
  } else if (quiet < eagerness_ && !is_oversubscribed_) {
    lock.unlock();
    const Clock::time_point before = Clock::now();
    sched_yield();
    is_oversubscribed_ = Clock::now() - before > shortest_pause;
    lock.lock();
  } else {
    is_oversubscribed_ = false;
    condition_.wait_for(lock, pause_after(quiet, longest_pause_), is_called);
  }
  woken_ = false;
  return !stopping_;
}

}  // namespace tutti
