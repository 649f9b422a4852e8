/// Segments between processes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "run/node/memory.hpp"
#include "run/node/signals.hpp"

namespace tutti {
namespace {

/// The status of a process that runs `body` and returns what that returns.
int status_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool succeeds(const std::function<bool()>& body) {
  const int status = status_of_child([&] { return body() ? 0 : 1; });
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int nothing() { return 0; }

class Kinds : public testing::TestWithParam<NodeSegment::Kind> {};
INSTANTIATE_TEST_SUITE_P(NodeMemory, Kinds,
                         testing::Values(NodeSegment::Kind::anonymous, NodeSegment::Kind::named));

/// Parent and child take turns through signals in the segment, which the child has opened by name.
TEST_P(Kinds, ProcessesExchangeThroughFlags) {
  auto segment = NodeSegment::create(1 << 16, GetParam());
  ASSERT_TRUE(segment);
  const Mapping here = segment->map(SegmentView::shared);
  ASSERT_TRUE(here);
  auto* signals = new (here.data()) NodeSignal[2];
  const SegmentName name = segment->name();
  constexpr int rounds = 100;
  const pid_t child = fork();
  if (child == 0) {
    const auto opened = NodeSegment::open(name);
    if (!opened) _exit(2);
    const Mapping there = opened->map(SegmentView::shared);
    auto* theirs = reinterpret_cast<NodeSignal*>(there.data());
    for (unsigned round = 1; round <= rounds; ++round) {
      theirs[0].wait(round, patience_sharing, nothing);
      there.data()[4096] =
          static_cast<std::byte>(std::to_integer<unsigned>(there.data()[4096]) * 3);
      theirs[1].signal_to(round);
    }
    _exit(0);
  }
  for (unsigned round = 1; round <= rounds; ++round) {
    here.data()[4096] = static_cast<std::byte>(round);
    signals[0].signal_to(round);
    signals[1].wait(round, patience_sharing, nothing);
    EXPECT_EQ(here.data()[4096], static_cast<std::byte>(3 * round));
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_P(Kinds, AnotherFileUnderTheNameIsNotOpened) {
  const auto segment = NodeSegment::create(4096, GetParam());
  ASSERT_TRUE(segment);
  EXPECT_TRUE(NodeSegment::open(segment->name()));
  SegmentName name = segment->name();
  ++name.file;
  EXPECT_FALSE(NodeSegment::open(name));
  name = segment->name();
  name.bytes = 8192;
  EXPECT_FALSE(NodeSegment::open(name));
  name = segment->name();
  std::strcpy(name.path.data(), "/proc/self/fd/0");
  EXPECT_FALSE(NodeSegment::open(name));
}

/// As where a process of the same number was killed before it took them away.
TEST(NodeMemory, NamesOfOthersAreLeftAlone) {
  const auto first = NodeSegment::create(4096, NodeSegment::Kind::named);
  ASSERT_TRUE(first);
  const std::string path = first->name().path.data();
  const std::size_t number = path.rfind('-') + 1;
  std::vector<std::string> taken;
  for (int next = 1; next <= 3; ++next) {
    taken.push_back(path.substr(0, number) + std::to_string(std::stoi(path.substr(number)) + next));
    const int file = shm_open(taken.back().c_str(), O_RDWR | O_CREAT | O_EXCL, S_IRUSR);
    ASSERT_GE(file, 0);
    close(file);
  }
  const auto second = NodeSegment::create(4096, NodeSegment::Kind::named);
  for (const std::string& name : taken) EXPECT_EQ(shm_unlink(name.c_str()), 0);
  ASSERT_TRUE(second);
  EXPECT_TRUE(NodeSegment::open(second->name()));
}

TEST(NodeMemory, NamedIsAllocatedOnRequest) {
  const Bytes size = 256 * page_bytes();
  const auto segment = NodeSegment::create(size, NodeSegment::Kind::named);
  ASSERT_TRUE(segment);
  const auto pages = [&] {
    struct stat found {};
    EXPECT_EQ(stat(("/dev/shm" + std::string(segment->name().path.data())).c_str(), &found), 0);
    return found.st_blocks * 512 / page_bytes();
  };
  EXPECT_EQ(pages(), 0);
  EXPECT_TRUE(segment->allocate());
  EXPECT_EQ(pages(), 256);
}

TEST(NodeMemory, NamesAreGoneOnceTakenAwayOrWithTheSegment) {
  auto segment = NodeSegment::create(4096, NodeSegment::Kind::named);
  ASSERT_TRUE(segment);
  const SegmentName name = segment->name();
  segment->take_name_away();
  EXPECT_FALSE(NodeSegment::open(name));
  const Mapping mapping = segment->map(SegmentView::shared);
  mapping.data()[0] = std::byte{1};  // what is mapped stays
  segment = NodeSegment::create(4096, NodeSegment::Kind::named);
  ASSERT_TRUE(segment);
  const SegmentName second = segment->name();
  segment.reset();
  EXPECT_FALSE(NodeSegment::open(second));
}

/// Killed in the middle: an anonymous segment has no name that could stay.
TEST(NodeMemory, NothingIsLeftOfAKilledProcess) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const int status = status_of_child([&]() -> int {
    const auto segment = NodeSegment::create(4096);
    if (!segment) return 1;
    const SegmentName name = segment->name();
    if (write(pipes[1], &name, sizeof name) != sizeof name) return 1;
    raise(SIGKILL);
    return 1;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  SegmentName name;
  ASSERT_EQ(read(pipes[0], &name, sizeof name), static_cast<ssize_t>(sizeof name));
  close(pipes[0]);
  close(pipes[1]);
  EXPECT_TRUE(name.by_process);
  EXPECT_FALSE(NodeSegment::open(name));
}

TEST(NodeMemory, ViewsKeepWhatTheyPromise) {
  const auto segment = NodeSegment::create(2 * page_bytes());
  ASSERT_TRUE(segment);
  const Mapping shared = segment->map(SegmentView::shared);
  const Mapping reading = segment->map(SegmentView::read_only);
  const Mapping copy = segment->map(SegmentView::copy_on_write);
  shared.data()[5] = std::byte{1};
  EXPECT_EQ(reading.data()[5], std::byte{1});
  EXPECT_EQ(copy.data()[5], std::byte{1});
  copy.data()[5] = std::byte{2};
  EXPECT_EQ(shared.data()[5], std::byte{1});
  EXPECT_EQ(copy.data()[5], std::byte{2});
  segment->release_pages();
  EXPECT_EQ(reading.data()[5], std::byte{0});
}

TEST(NodeMemory, AWriteToAReadOnlyViewIsAFault) {
  const auto segment = NodeSegment::create(page_bytes());
  ASSERT_TRUE(segment);
  const Mapping reading = segment->map(SegmentView::read_only);
  const int status = status_of_child([&] {
    signal(SIGSEGV, SIG_DFL);  // not a sanitizer's handler
    *static_cast<volatile std::byte*>(reading.data()) = std::byte{1};
    return 0;
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/// A gibibyte costs no memory until it is touched.
TEST(NodeMemory, PagesComeWhenTheyAreTouched) {
  const auto segment = NodeSegment::create(Bytes{1} << 30);
  ASSERT_TRUE(segment);
  const Mapping shared = segment->map(SegmentView::shared);
  ASSERT_TRUE(shared);
  shared.data()[(Bytes{1} << 30) - 1] = std::byte{1};
  EXPECT_EQ(shared.data()[0], std::byte{0});
}

TEST(NodeMemory, LimitsOfTheProcessAreRefusalsNotSignals) {
  EXPECT_TRUE(succeeds([] {
    const rlimit limit{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    return !NodeSegment::create(1 << 21) && NodeSegment::create(1 << 20);
  }));
}

}  // namespace
}  // namespace tutti
