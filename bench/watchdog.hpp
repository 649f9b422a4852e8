/// Ends a run that makes no progress.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/types.hpp"

namespace tutti::bench {

/// A thread that sleeps while calls make progress. After `seconds` without a new call it prints the
/// current call of this rank, gives the other ranks' watchdogs 1 s to do the same, and ends the
/// process without MPI, which may be what hangs. The launcher then ends the job.
class Watchdog {
 public:
  Watchdog(Rank rank, int seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Records that this rank begins `what`, which must live until the next call of enter().
  void enter(const std::string& what, Bytes block, int repetition);

 private:
  void watch();
  [[noreturn]] void give_up(const std::string& where) const;

  const Rank rank_;
  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  const std::string* what_ = nullptr;
  Bytes block_ = 0;
  int repetition_ = 0;
  std::chrono::steady_clock::time_point since_;
  std::thread thread_;  // last, so that it starts when the object is complete
};

}  // namespace tutti::bench
