/// Notices prove themselves whole, whatever words of them have come; operations may overtake.
#include "run/rma_notice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "run/rma_arrivals.hpp"

namespace tutti {
namespace {

RmaNotice example(std::int64_t sequence, int carried = 0) {
  return {sequence, 3, 7, 41, 12, -8, 123456789012, 99, 1234567890123, carried};
}

TEST(Notice, IsReadAsItWasWritten) {
  for (const std::size_t bytes : {0U, 1U, 8U, 255U, 256U}) {
    std::vector<std::byte> carried(bytes, std::byte{0xA5});
    NoticeSlot slot{};
    NoticeSlot copy{};
    write_notice(example(1), carried, slot);
    const auto read = read_notice(slot.data(), 1, copy);
    ASSERT_TRUE(read) << bytes;
    EXPECT_EQ(*read, example(1, static_cast<int>(bytes)));
    if (bytes > 0) {
      EXPECT_EQ(std::memcmp(copy.data() + notice_words, carried.data(), bytes), 0);
    }
    EXPECT_FALSE(read_notice(slot.data(), 2, copy));
  }
}

// The words of a new notice replace those of an old one in any sequence.
TEST(Notice, IsNotReadBeforeAllOfItsWordsHaveCome) {
  std::mt19937 random(1);
  std::vector<std::byte> carried(40, std::byte{1});
  NoticeSlot before{};
  NoticeSlot after{};
  write_notice(example(1), carried, before);
  carried.assign(40, std::byte{2});
  const std::size_t words = write_notice(example(9), carried, after);
  for (int round = 0; round < 200; ++round) {
    NoticeSlot slot = before;
    NoticeSlot copy{};
    std::vector<std::size_t> changed;
    for (std::size_t i = 0; i < words; ++i) {
      if (before[i] != after[i]) changed.push_back(i);
    }
    std::shuffle(changed.begin(), changed.end(), random);
    for (const std::size_t word : changed) {
      EXPECT_FALSE(read_notice(slot.data(), 9, copy));
      slot[word] = after[word];
    }
    EXPECT_TRUE(read_notice(slot.data(), 9, copy));
  }
}

TEST(Notice, OfNothingIsNone) {
  const NoticeSlot slot{};
  NoticeSlot copy{};
  EXPECT_FALSE(read_notice(slot.data(), 0, copy));
}

TEST(Word, TellsASpecification) {
  for (const char* text : {"linear", "paznikov:order=natural", "knomial:k=5,carry=8",
                           "binary:parts=300,carry=0", "chain"}) {
    const Specification spec = *specification(Collective::rma_bcast, text);
    EXPECT_EQ(specification_from(to_word(spec)), spec) << text;
  }
}

TEST(Arrivals, CountWhatHasComeWithAllBeforeIt) {
  RmaArrivals arrivals;
  arrivals.add(2);
  arrivals.add(4);
  EXPECT_EQ(arrivals.all_up_to(), 0);
  arrivals.add(1);
  EXPECT_EQ(arrivals.all_up_to(), 2);
  arrivals.add(3);
  EXPECT_EQ(arrivals.all_up_to(), 4);
}

}  // namespace
}  // namespace tutti
