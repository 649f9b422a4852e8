/// Where a process is on its node, from files like the system's.
#include <gtest/gtest.h>

#include <fstream>

#include "run/processors.hpp"
#include "temporary_folder.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class NodeGroups : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << "\n";
  }
  void add_cache(int processor, const std::string& shared) const {
    const std::string cache = "devices/system/cpu/cpu" + std::to_string(processor) + "/cache/";
    write(cache + "index0/level", "1");
    write(cache + "index0/shared_cpu_list", std::to_string(processor));
    write(cache + "index3/level", "3");
    write(cache + "index3/shared_cpu_list", shared);
  }

  test::TemporaryFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(NodeGroups, AreThoseOfAMemory) {
  write("devices/system/node/node0/cpulist", "0-3,8-11");
  write("devices/system/node/node1/cpulist", "4-7,12-15");
  write("devices/system/node/node2/cpulist", "");  // memory without processors
  write("devices/system/node/online", "0-2");
  add_cache(4, "4-5");
  EXPECT_EQ(group_of_processors(root_, {1}), 0);
  EXPECT_EQ(group_of_processors(root_, {2, 9}), 0);
  EXPECT_EQ(group_of_processors(root_, {4, 5, 12}), 4);
  EXPECT_EQ(group_of_processors(root_, {3, 4}), -1) << "may be at either";
  EXPECT_EQ(group_of_processors(root_, {}), -1);
}

TEST_F(NodeGroups, AreThoseOfACacheWhereThereIsOneMemory) {
  write("devices/system/node/node0/cpulist", "0-7");
  add_cache(0, "0-3");
  add_cache(5, "4-7");
  EXPECT_EQ(group_of_processors(root_, {0, 1}), 0);
  EXPECT_EQ(group_of_processors(root_, {5}), 4);
  EXPECT_EQ(group_of_processors(root_, {0, 5}), -1);
  EXPECT_EQ(group_of_processors(root_, {2}), -1) << "whose cache is not told";
}

TEST_F(NodeGroups, AreNotKnownWithoutFiles) {
  EXPECT_EQ(group_of_processors(root_, {0}), -1);
  // On this machine it is the lowest processor of the group, if any holds them all.
  const std::vector<int> own = processors_of(0);
  ASSERT_FALSE(own.empty());
  EXPECT_LE(group_of_processors("/sys", own), own.front());
}

TEST(Processors, AreReadAsLinuxWritesThem) {
  EXPECT_EQ(processors_in("0-3,8"), (std::vector{0, 1, 2, 3, 8}));
  EXPECT_EQ(processors_in("5"), std::vector{5});
  for (const char* wrong : {"", "x", "3-1", "1;2", "-1", "0-99999999", "1-"}) {
    EXPECT_TRUE(processors_in(wrong).empty()) << wrong;
  }
}

}  // namespace
}  // namespace tutti
