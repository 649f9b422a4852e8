/// The background thread: at most one in each process, started only when somebody asks for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti {

/// Something that goes on while the program computes.
class BackgroundTask {
 public:
  enum class Progress {
    nothing_expected,  ///< until wake() is called
    waiting,           ///< something may come, nothing has
    moved,
  };
  virtual ~BackgroundTask() = default;
  /// Does what can be done now, without waiting for anything. Does not throw.
  virtual Progress proceed() = 0;
  /// However long nothing has moved, it wants to be asked again after that.
  [[nodiscard]] virtual std::chrono::microseconds patience() const {
    return std::chrono::milliseconds(20);
  }
  /// For so long after it has moved it wants to be asked without a pause, as more may come at once.
  [[nodiscard]] virtual std::chrono::microseconds eagerness() const {
    return std::chrono::microseconds(0);
  }
};

/// Runs tasks in turns. While all expect nothing the thread is parked. Otherwise it sleeps between
/// its rounds for a sixteenth of the time since anything moved, from 50 us up to 20 ms, or what a
/// task that waits has patience for: whoever needs an answer waits little longer than it has waited
/// already, and a thread for which nothing comes takes 1 % of a core after 40 ms and a tenth of
/// that after half a second. As long as a task is eager, and nobody else needs the core, the thread
/// does not sleep.
class Background {
 public:
  Background() = default;
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// That of the process. After fork() the child has none, until it starts one.
  static Background& of_process();

  /// False where there can be no thread. Nothing to do if it runs.
  bool start();
  /// BufferTraits and joins the thread.
  void stop();

  void add(BackgroundTask& task);
  /// The task does not run any more once this has returned. Not to be called by a task.
  void remove(BackgroundTask& task);
  /// Something is expected from now on.
  void wake();

  using Clock = std::chrono::steady_clock;
  /// How long the thread sleeps where nothing has moved for so long, and a task has such patience.
  [[nodiscard]] static std::chrono::microseconds pause_after(Clock::duration quiet,
                                                             std::chrono::microseconds patience);

 private:
  void run();
  BackgroundTask::Progress round();
  std::chrono::microseconds longest_pause_{};  ///< of the round before
  std::chrono::microseconds eagerness_{};      ///< of the same
  /// Sleeps; false at the end.
  bool pause(BackgroundTask::Progress progress, Clock::duration quiet);

  std::mutex tasks_mutex_;  ///< held during a round
  std::vector<BackgroundTask*> tasks_;
  std::mutex mutex_;  ///< of what follows; never held for long
  std::condition_variable condition_;
  bool woken_ = false;
  bool stopping_ = false;
  bool is_oversubscribed_ = false;  ///< the core was not given back at once
  std::thread thread_;
};

}  // namespace tutti
