/// Writers of blocks equal those of a list for each block.
#include "lowering/block_writers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace tutti {
namespace {

std::set<int> writers_of(const BlockWriters& writers, BlockRange blocks) {
  std::set<int> found;
  writers.for_each(blocks, [&](int operation) { found.insert(operation); });
  return found;
}

TEST(BlockWriters, EqualListsForEachBlock) {
  constexpr int blocks = 40;
  std::mt19937 random(7);
  const auto any_range = [&] {
    const auto a = static_cast<BlockIndex>(random() % (blocks + 1));
    const auto b = static_cast<BlockIndex>(random() % (blocks + 1));
    return BlockRange{std::min(a, b), std::max(a, b)};
  };
  for (int round = 0; round < 200; ++round) {
    BlockWriters writers;
    std::vector<std::set<int>> lists(blocks);
    for (int operation = 0; operation < 20; ++operation) {
      const BlockRange range = any_range();
      const bool replaces = random() % 3 == 0;
      if (replaces) {
        writers.replace(range, operation);
      } else {
        writers.add(range, operation);
      }
      for (BlockIndex at = range.begin; at < range.end; ++at) {
        std::set<int>& list = lists[static_cast<std::size_t>(at)];
        if (replaces) list.clear();
        list.insert(operation);
      }
      const BlockRange read = any_range();
      std::set<int> expected;
      for (BlockIndex at = read.begin; at < read.end; ++at) {
        const std::set<int>& list = lists[static_cast<std::size_t>(at)];
        expected.insert(list.begin(), list.end());
      }
      ASSERT_EQ(writers_of(writers, read), expected);
    }
  }
}

TEST(BlockWriters, ConsecutiveBlocksCostAsMuchAsOne) {
  BlockWriters writers;
  writers.add({0, 65536}, 1);
  writers.add({1024, 2048}, 2);
  int visits = 0;
  writers.for_each({0, 65536}, [&](int) { ++visits; });
  EXPECT_EQ(visits, 4);  // [0, 1024) by 1, [1024, 2048) by 1 and 2, [2048, 65536) by 1
}

}  // namespace
}  // namespace tutti
