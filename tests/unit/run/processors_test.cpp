/// Processors of a process that is bound, and of what started it.
#include "run/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace tutti {
namespace {

/// In a process of its own, which `bind` may bind.
template <class Bind, class Check>
bool holds_in_child(Bind bind, Check check) {
  const pid_t child = fork();
  if (child == 0) {
    bind();
    _exit(check() ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void bind_to(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
}

TEST(ProcessorsOfARank, AreThoseItIsBoundTo) {
  const std::vector<int> all = processors_of(0);
  ASSERT_FALSE(all.empty());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_TRUE(holds_in_child([&] { bind_to(all.back()); },
                             [&] { return processors_of(0) == std::vector{all.back()}; }));
}

/// Ranks that a launcher has bound to a processor each have all of the launcher's; those of a
/// launcher that is bound have that one only.
TEST(ProcessorsOfALaunch, AreThoseOfTheLauncher) {
  const std::vector<int> all = processors_of(0);
  ASSERT_FALSE(all.empty());
  const auto launched = [&](int processors) {
    return holds_in_child([&] { bind_to(all.front()); },
                          [&] { return processors_of_launch() == processors; });
  };
  EXPECT_TRUE(launched(static_cast<int>(all.size())));
  EXPECT_TRUE(holds_in_child([&] { bind_to(all.front()); }, [&] { return launched(1); }));
}

}  // namespace
}  // namespace tutti
