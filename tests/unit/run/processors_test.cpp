/// Processors of a rank, limits on them, and ranks to each of them.
#include "run/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

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

namespace fs = std::filesystem;

/// Files like those of the system, about control groups.
class ControlGroups : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  [[nodiscard]] double quota() const { return processor_quota(root_).processors; }

  test::TemporaryFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(ControlGroups, OfVersion2LimitByTheTightestAround) {
  write("proc/self/cgroup", "0::/job/step/task");
  write("sys/fs/cgroup/job/step/task/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/job/step/cpu.max", "400000 100000");
  EXPECT_EQ(quota(), 4);
  write("sys/fs/cgroup/job/cpu.max", "75000 50000");
  EXPECT_EQ(quota(), 1.5);
  const std::uint64_t group = processor_quota(root_).group;
  write("proc/self/cgroup", "0::/job/step/other");
  EXPECT_EQ(processor_quota(root_).group, group) << "both have the limit of the same group";
}

TEST_F(ControlGroups, OfVersion1LimitByQuotaAndPeriod) {
  write("proc/self/cgroup", "12:memory:/m\n4:cpu,cpuacct:/job\n3:cpuset:/s\n0::/");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(quota(), 3);
}

/// A container sees its own group as the root, under a path that is not there.
TEST_F(ControlGroups, OutsideOfTheNameSpaceAreThoseOfTheMount) {
  write("sys/fs/cgroup/cpu.max", "200000 100000");
  write("proc/self/cgroup", "0::/docker/0123");
  EXPECT_EQ(quota(), 2);
  write("proc/self/cgroup", "0::/../../other");
  EXPECT_EQ(quota(), 2);
}

TEST_F(ControlGroups, ThatCannotBeReadLimitNothing) {
  EXPECT_EQ(quota(), 0);
  write("proc/self/cgroup", "nonsense\n0::/");
  for (const char* text : {"", "none", "0 100000", "100000", "100000 0", "-5 100000"}) {
    write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(quota(), 0) << text;
  }
}

/// Of a rank that may run on the processors whose bits are set.
RankProcessors view_of(std::uint64_t allowed, ProcessorQuota quota = {}) {
  return {allowed, static_cast<double>(std::popcount(allowed)), quota};
}

double oversubscription(std::vector<RankProcessors> ranks) { return oversubscription_of(ranks); }

TEST(Oversubscription, CountsAllThatAnyRankMayRunOn) {
  EXPECT_EQ(oversubscription({view_of(0b01), view_of(0b10)}), 1)
      << "each is bound to one of its own";
  EXPECT_EQ(oversubscription({view_of(0b01), view_of(0b01)}), 2) << "all are bound to the same one";
  EXPECT_EQ(oversubscription({view_of(0b11), view_of(0b11), view_of(0b11)}), 1.5);
}

TEST(Oversubscription, CountsNoMoreThanTheLimitsOfGroups) {
  const ProcessorQuota one = {1, 7};
  EXPECT_EQ(oversubscription({view_of(0b1111, one), view_of(0b1111, one)}), 2);
  EXPECT_EQ(oversubscription({view_of(0b1111, one), view_of(0b1111, {1, 8})}), 1) << "a limit each";
  EXPECT_EQ(oversubscription({view_of(0b1111, one), view_of(0b1111)}), 0.5) << "one has none";
  EXPECT_EQ(oversubscription({view_of(0b1, {3, 7}), view_of(0b1, {3, 7})}), 2);
}

TEST(Oversubscription, TakesWhatIsNotKnownForAllProcessors) {
  const auto all = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_EQ(oversubscription({view_of(0), view_of(0b1)}), 2 / all);
}

TEST(Oversubscription, IsOfTheThreadThatAsks) {
  const std::vector<int> all = processors_of(0);
  ASSERT_FALSE(all.empty());
  // A folder without files of the system: this machine may limit the tests to part of a processor.
  EXPECT_TRUE(holds_in_child([&] { bind_to(all.back()); },
                             [&] {
                               const RankProcessors own = own_processors("/nowhere");
                               return oversubscription({own, own}) == 2;
                             }));
  EXPECT_EQ(reachable_processors({}), static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_EQ(reachable_processors({0.5, 1}), 1);
}

}  // namespace
}  // namespace tutti
