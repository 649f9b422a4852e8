/// The background thread: at most one in each process, started on demand.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti {

/// Work that makes progress while the program computes.
class BackgroundTask {
 public:
  enum class Progress {
    nothing_expected,  ///< until wake() is called
    waiting,           ///< nothing moved, but something may
    moved,
  };
  virtual ~BackgroundTask() = default;
  /// Does all work that needs no waiting. Does not throw.
  virtual Progress proceed() = 0;
  /// The longest pause between two proceed() calls while the task is waiting.
  [[nodiscard]] virtual std::chrono::microseconds patience() const {
    return std::chrono::milliseconds(20);
  }
  /// For this long after progress, proceed() is called without pauses, as more may follow at once.
  [[nodiscard]] virtual std::chrono::microseconds eagerness() const {
    return std::chrono::microseconds(0);
  }
};

/// Runs tasks in turn. While all expect nothing the thread is parked. Otherwise it pauses between
/// rounds for 1/16 of the time since the last progress: at least 50 us, at most the smallest
/// patience of the waiting tasks (by default 20 ms). So an answer comes little later than it would
/// without pauses, and an idle thread takes 1 % of a core after 40 ms and 0.1 % after 0.5 s. The
/// thread does not pause while a task is eager and no other thread needs the core.
class Background {
 public:
  ~Background() { stop(); }

  /// The process's instance. After fork() the child has a new one, without a thread.
  static Background& of_process();

  /// Starts the thread unless it runs. False if the system refuses one.
  bool start();
  /// Stops and joins the thread.
  void stop();

  void add(BackgroundTask& task);
  /// The task, if it was added, does not run any more once this has returned. A task must not call
  /// it.
  void remove(BackgroundTask& task);
  /// Ends the parked state: tasks expect something from now on.
  void wake();

  using Clock = std::chrono::steady_clock;
  /// The pause after `quiet` without progress, if the smallest patience is `patience`.
  [[nodiscard]] static std::chrono::microseconds pause_after(Clock::duration quiet,
                                                             std::chrono::microseconds patience);

 private:
  void run();
  BackgroundTask::Progress round();
  std::chrono::microseconds longest_pause_{};  ///< smallest patience in the last round
  std::chrono::microseconds eagerness_{};      ///< largest eagerness in the last round
  /// Pauses. False once stop() is called.
  bool pause(BackgroundTask::Progress progress, Clock::duration quiet);

  std::mutex tasks_mutex_;  ///< held during a round
  std::vector<BackgroundTask*> tasks_;
  std::mutex mutex_;  ///< guards the members below; never held for long
  std::condition_variable condition_;
  bool woken_ = false;
  bool stopping_ = false;
  bool is_oversubscribed_ = false;  ///< the last sched_yield() took long
  std::thread thread_;
};

}  // namespace tutti
