/// Uses of memory and places of values equal those of a list for each byte.
#include "lowering/memory_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "lowering/values.hpp"

namespace tutti {
namespace {

constexpr Bytes length = 40;

BlockRange any_range(std::mt19937& random) {
  const auto a = static_cast<Bytes>(random() % (length + 1));
  const auto b = static_cast<Bytes>(random() % (length + 1));
  return {std::min(a, b), std::max(a, b)};
}

/// What one byte has been used for since its last write.
struct ByteUse {
  int writer = -1;
  std::set<int> readers;
};

TEST(MemoryUse, NeedsTheLastWriteOrTheReadsSince) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MemoryUse memory(0);
    std::vector<ByteUse> bytes(length);
    for (int operation = 0; operation < 20; ++operation) {
      const BlockRange range = any_range(random);
      const bool writes = random() % 3 == 0;
      std::set<int> expected;
      bool is_used = false;
      for (Bytes at = range.begin; at < range.end; ++at) {
        ByteUse& byte = bytes[static_cast<std::size_t>(at)];
        is_used = is_used || byte.writer >= 0 || !byte.readers.empty();
        if (writes && !byte.readers.empty()) {
          expected.insert(byte.readers.begin(), byte.readers.end());
        } else if (byte.writer >= 0) {
          expected.insert(byte.writer);
        }
        if (writes) {
          byte = {operation, {}};
        } else {
          byte.readers.insert(operation);
        }
      }
      const Spot spot = {MemoryUse::receive_buffer, range.begin};
      EXPECT_EQ(!range.empty() && memory.is_used(spot, range.count()), is_used);
      std::vector<int> needs;
      memory.use(operation, spot, range.count(), writes, needs);
      ASSERT_EQ(std::set<int>(needs.begin(), needs.end()), expected);
    }
  }
}

TEST(MemoryUse, ReusesAStretchOnceItsUsesAreCompletedAndItsValuesGone) {
  MemoryUse memory(4);
  const Spot first = memory.take(10);
  std::vector<int> needs;
  memory.use(0, first, 10, true, needs);
  memory.use(1, first, 10, false, needs);
  memory.hold(first, 10);
  memory.recycle({1, 1});
  const Spot second = memory.take(10);
  EXPECT_NE(second.stretch, first.stretch) << "it holds a value";
  memory.hold(second, 10);
  memory.release(first, 10);
  memory.recycle({1, 0});
  EXPECT_NE(memory.take(10).stretch, first.stretch) << "a use is open";
  memory.recycle({1, 1});
  EXPECT_EQ(memory.take(6).stretch, first.stretch);
  EXPECT_EQ(memory.scratch(), 3 * 14);
  needs.clear();
  memory.use(2, first, 6, true, needs);
  EXPECT_TRUE(needs.empty());
}

Bytes triple(BlockRange blocks) { return 3 * blocks.count(); }

TEST(Values, AreWhereTheyWerePutLast) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Values values;
    std::vector<std::optional<Spot>> list(length);
    for (int stretch = 0; stretch < 20; ++stretch) {
      const BlockRange range = any_range(random);
      const Spot spot = {stretch, static_cast<Bytes>(random() % 50)};
      values.put(range, spot, triple);
      for (BlockIndex at = range.begin; at < range.end; ++at) {
        list[static_cast<std::size_t>(at)] = moved(spot, triple({range.begin, at}));
      }
      const BlockRange asked = any_range(random);
      std::vector<std::optional<Spot>> found(length);
      BlockIndex reached = asked.begin;
      values.for_each(asked, triple, [&](BlockRange part, Spot from) {
        EXPECT_LE(reached, part.begin);
        reached = part.end;
        for (BlockIndex at = part.begin; at < part.end; ++at) {
          found[static_cast<std::size_t>(at)] = moved(from, triple({part.begin, at}));
        }
      });
      EXPECT_LE(reached, std::max(asked.begin, asked.end));
      for (BlockIndex at = asked.begin; at < asked.end; ++at) {
        ASSERT_EQ(found[static_cast<std::size_t>(at)], list[static_cast<std::size_t>(at)]);
      }
    }
  }
}

TEST(Values, ConsecutiveBlocksCostAsMuchAsOne) {
  Values values;
  values.put({0, 65536}, {0, 0}, triple);
  values.put({1024, 2048}, {1, 0}, triple);
  int visits = 0;
  values.for_each({0, 65536}, triple, [&](BlockRange, Spot) { ++visits; });
  EXPECT_EQ(visits, 3);  // [0, 1024), [1024, 2048), [2048, 65536)
}

}  // namespace
}  // namespace tutti
