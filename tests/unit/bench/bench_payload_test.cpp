/// The check of received data finds each way in which data can be wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bench/payload.hpp"

namespace tutti::bench {
namespace {

std::vector<std::byte> block_of(Rank rank, std::uint32_t call, std::size_t bytes) {
  std::vector<std::byte> block(bytes);
  fill(block, rank, call);
  return block;
}

TEST(BenchPayload, AcceptsItsOwnBlocksOfAnySize) {
  for (std::size_t bytes : {0U, 1U, 3U, 4U, 5U, 4096U}) {
    EXPECT_FALSE(check(block_of(3, 9, bytes), 3, 9)) << bytes;
  }
}

TEST(BenchPayload, TellsRanksAndCallsApart) {
  const auto block = block_of(3, 9, 40);
  for (Rank rank = 0; rank < 2000; ++rank) {
    if (rank != 3) {
      ASSERT_TRUE(check(block, rank, 9)) << rank;
    }
  }
  EXPECT_TRUE(check(block, 3, 8));
}

TEST(BenchPayload, FindsABlockOutOfPlace) {
  auto block = block_of(3, 9, 40);
  std::rotate(block.begin(), block.begin() + 4, block.end());
  EXPECT_TRUE(check(block, 3, 9));
}

TEST(BenchPayload, NamesTheFirstWrongByte) {
  auto block = block_of(3, 9, 39);
  const int right = std::to_integer<int>(block[38]);
  block[38] ^= std::byte{0x10};
  const auto wrong = check(block, 3, 9);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->block, 3);
  EXPECT_EQ(wrong->index, 38);
  EXPECT_EQ(wrong->expected, right);
  EXPECT_EQ(wrong->got, right ^ 0x10);
  EXPECT_NE(to_text(*wrong).find("block 3, byte 38: expected 0x"), std::string::npos);
}

TEST(BenchPayload, ChecksWhatRanksAdd) {
  std::vector<float> sums(5);
  for (Rank rank = 0; rank < 3; ++rank) {
    std::vector<float> one(sums.size());
    fill(std::as_writable_bytes(std::span(one)), rank, 9, Values::floats);
    for (std::size_t i = 0; i < one.size(); ++i) sums[i] += one[i];
  }
  const auto wrong = [&sums](Rank ranks, std::uint32_t call) {
    return check_combined(std::as_bytes(std::span(sums)), 0, ranks, 1, call, Values::floats);
  };
  EXPECT_FALSE(wrong(3, 9));
  EXPECT_TRUE(wrong(2, 9));
  EXPECT_TRUE(wrong(3, 8));
  sums[3] += 1;
  ASSERT_TRUE(wrong(3, 9));
  EXPECT_EQ(wrong(3, 9)->index / 4, 3);
}

TEST(BenchPayload, ChecksWhatRanksCombine) {
  std::vector<std::byte> combined(23);
  for (Rank rank = 0; rank < 3; ++rank) {
    std::vector<std::byte> one(combined.size());
    fill(one, rank, 9);
    for (std::size_t i = 0; i < one.size(); ++i) combined[i] ^= one[i];
  }
  const std::span<const std::byte> all = combined;
  EXPECT_FALSE(check_combined(all, 0, 3, 1, 9));
  EXPECT_FALSE(check_combined(all.subspan(6), 6, 3, 1, 9));
  EXPECT_FALSE(check_combined(all.subspan(5, 2), 5, 3, 1, 9));
  EXPECT_TRUE(check_combined(all, 0, 2, 1, 9));
  EXPECT_TRUE(check_combined(all, 0, 3, 1, 8));
  EXPECT_TRUE(check_combined(all.subspan(6), 2, 3, 1, 9));
  combined[8] ^= std::byte{1};
  const auto wrong = check_combined(all.subspan(6), 6, 3, 1, 9);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->block, 1);
  EXPECT_EQ(wrong->index, 2);
  EXPECT_EQ(wrong->expected ^ wrong->got, 1);
}

TEST(BenchPayload, LaysBlocksOutWithGaps) {
  const auto layout = lay_out({2, 0, 3}, 4, 5);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->counts, (std::vector<int>{2, 0, 3}));
  EXPECT_EQ(layout->displacements, (std::vector<int>{0, 7, 12}));
  EXPECT_EQ(layout->bytes, 60);
  EXPECT_EQ(layout->begin(2), 48);
}

TEST(BenchPayload, RefusesWhatAnIntCannotCount) {
  const Bytes most = std::numeric_limits<int>::max();
  EXPECT_TRUE(lay_out({most - 1, 1}, 4, 0));
  const auto layout = lay_out({most, 1}, 4, 0);
  ASSERT_FALSE(layout);
  EXPECT_NE(layout.error().find(std::to_string(most + 1)), std::string::npos);
}

TEST(BenchPayload, GuardsFindWritesBesideTheData) {
  for (const Bytes outside : {-1, -64, 12, 75}) {
    GuardedBuffer buffer(12);
    EXPECT_FALSE(buffer.check_guards());
    buffer.data()[outside] = std::byte{1};
    const auto written = buffer.check_guards();
    ASSERT_TRUE(written) << outside;
    EXPECT_EQ(written->block, no_rank);
    EXPECT_EQ(written->index, outside);
  }
}

TEST(BenchPayload, GapsFindWritesBetweenBlocks) {
  const auto layout = lay_out({1, 1, 1}, 4, 1);
  GuardedBuffer buffer(layout->bytes);
  for (Rank rank = 0; rank < 3; ++rank) fill(buffer.at(layout->begin(rank), 4), rank, 1);
  EXPECT_FALSE(buffer.check_gaps(*layout));
  buffer.data()[14] = std::byte{0};
  const auto written = buffer.check_gaps(*layout);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->index, 14);
}

}  // namespace
}  // namespace tutti::bench
