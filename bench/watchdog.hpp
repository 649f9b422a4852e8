/// Ends a run that makes no progress.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/types.hpp"

namespace tutti::bench {

/// A thread that sleeps while calls make progress. After `seconds` without a new call it prints the
/// current call of this rank, gives the other ranks' watchdogs 1 s to do the same, and ends the
/// process without MPI, which may be what hangs. The launcher then ends the job.
class Watchdog : NotCopied {
 public:
  Watchdog(Rank rank, int seconds);
  ~Watchdog();

  /// Records that this rank begins `what`, of which it keeps the first 127 characters.
  void enter(std::string_view what, Bytes block, int repetition);

 private:
  void watch();
  [[noreturn]] void give_up(const std::string& where) const;

  const Rank rank_;
  const std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::array<char, 128> what_{};  // a copy without allocation; empty before the first call
  Bytes block_ = 0;
  int repetition_ = 0;
  std::chrono::steady_clock::time_point since_;
  std::thread thread_;  // last, so that it starts when the object is complete
};

}  // namespace tutti::bench
