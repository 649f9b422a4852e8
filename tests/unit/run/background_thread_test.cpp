/// The background thread runs what it is given, sleeps when nothing is expected, and survives fork.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "run/background.hpp"

namespace tutti {
namespace {

using Progress = BackgroundTask::Progress;

/// Counts its rounds, and has as much to do as it is told.
class Counter final : public BackgroundTask {
 public:
  explicit Counter(Progress progress) : progress_(progress) {}
  Progress proceed() override {
    ++rounds_;
    return progress_;
  }
  [[nodiscard]] long rounds() const { return rounds_; }
  void set(Progress progress) { progress_ = progress; }

 private:
  std::atomic<long> rounds_ = 0;
  std::atomic<Progress> progress_;
};

void sleep_ms(long milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

void await_rounds(const Counter& task, long rounds) {
  while (task.rounds() < rounds) sleep_ms(1);
}

TEST(BackgroundThread, IsParkedWhereNothingIsExpected) {
  Background background;
  Counter task(Progress::nothing_expected);
  background.add(task);
  ASSERT_TRUE(background.start());
  await_rounds(task, 2);  // one at the start, one because add() wakes the thread
  sleep_ms(100);
  EXPECT_EQ(task.rounds(), 2);
  background.wake();
  await_rounds(task, 3);
  background.remove(task);
}

/// What a round costs is a matter of the machine; how many there are is not: a busy machine has
/// fewer.
TEST(BackgroundThread, LooksSeldomWhereNothingComes) {
  using Clock = std::chrono::steady_clock;
  Background background;
  Counter task(Progress::waiting);
  background.add(task);
  ASSERT_TRUE(background.start());
  sleep_ms(400);  // from a sixteenth of 320 ms on its pauses are as long as they get
  const Clock::time_point start = Clock::now();
  const long before = task.rounds();
  sleep_ms(300);
  const long rounds = task.rounds() - before;
  EXPECT_LE(rounds, (Clock::now() - start) / std::chrono::milliseconds(20) + 2);
  background.remove(task);
}

TEST(BackgroundThread, SleepsForAShareOfTheQuietTime) {
  using namespace std::chrono_literals;
  EXPECT_EQ(Background::pause_after(0us, 3ms), 50us);
  EXPECT_EQ(Background::pause_after(16ms, 3ms), 1ms);
  EXPECT_EQ(Background::pause_after(1s, 3ms), 3ms);
  EXPECT_EQ(Background::pause_after(1s, 10us), 50us);
}

TEST(BackgroundThread, ComesBackSoonWhereThingsMove) {
  Background background;
  Counter task(Progress::moved);
  background.add(task);
  ASSERT_TRUE(background.start());
  await_rounds(task, 100);  // in 50 us each, if the machine is free
  background.remove(task);
  const long before = task.rounds();
  sleep_ms(20);
  EXPECT_EQ(task.rounds(), before);
}

/// Notes which signals its thread would be given.
class Listener final : public BackgroundTask {
 public:
  Progress proceed() override {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    takes_alarms = sigismember(&blocked, SIGALRM) == 0;
    takes_faults = sigismember(&blocked, SIGSEGV) == 0;
    asked = true;
    return Progress::nothing_expected;
  }
  std::atomic<bool> asked = false;
  std::atomic<bool> takes_alarms = true;
  std::atomic<bool> takes_faults = false;
};

TEST(BackgroundThread, LeavesSignalsToTheProgramsThreads) {
  Background background;
  Listener task;
  background.add(task);
  ASSERT_TRUE(background.start());
  while (!task.asked) sleep_ms(1);
  EXPECT_FALSE(task.takes_alarms);
  EXPECT_TRUE(task.takes_faults);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGALRM), 0) << "the thread that starts it has its own again";
  background.remove(task);
}

TEST(BackgroundThread, CanBeStoppedAndStartedAgain) {
  Background background;
  Counter task(Progress::waiting);
  background.add(task);
  for (int i = 0; i < 3; ++i) {
    const long before = task.rounds();
    ASSERT_TRUE(background.start());
    ASSERT_TRUE(background.start());
    await_rounds(task, before + 1);
    background.stop();
  }
}

TEST(BackgroundThread, IsNotThereInAChildProcess) {
  Background* const parents = &Background::of_process();
  ASSERT_TRUE(parents->start());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // what hangs is no success
    // Another one, that can be started, woken and stopped.
    Background& own = Background::of_process();
    Counter task(Progress::waiting);
    bool good = &own != parents;
    own.add(task);
    // Of a process with threads a child may hold the sanitizers' own locks, for ever.
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    good = own.start() && good;
    await_rounds(task, 2);
#endif
    own.remove(task);
    own.stop();
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(&Background::of_process(), parents);
  parents->stop();
}

}  // namespace
}  // namespace tutti
