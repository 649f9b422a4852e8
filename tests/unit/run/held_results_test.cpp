/// What a process holds and has released.
#include "run/hierarchical/held_results.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tutti {
namespace {

using Released = HeldResults::Released;

std::shared_ptr<SharedMemory> memory_of(Bytes bytes, int holders, Bytes kept) {
  auto segment = NodeSegment::create(page_bytes() + bytes);
  Mapping all = segment->map(SegmentView::shared);
  auto memory = std::make_shared<SharedMemory>(std::move(segment), std::move(all));
  memory->begin(holders, kept);
  return memory;
}

TEST(HeldResults, AReleasedAddressIsNotGivenAgain) {
  HeldResults results;
  const auto memory = memory_of(page_bytes(), 100, 0);
  std::set<void*> seen;
  for (int i = 0; i < 50; ++i) {
    void* const address = results.hold(memory, SegmentView::read_only);
    ASSERT_NE(address, nullptr);
    EXPECT_TRUE(seen.insert(address).second);
    EXPECT_EQ(results.release(address), Released::now);
    for (void* const before : seen) EXPECT_EQ(results.release(before), Released::before);
  }
  EXPECT_EQ(results.release(&results), Released::unknown);
}

/// The oldest addresses go: a process that holds and releases for ever does not run out of them.
TEST(HeldResults, FewAddressesAreKept) {
  HeldResults results;
  const auto memory = memory_of(page_bytes(), 1000, 0);
  std::vector<void*> released;
  std::vector<void*> held;  // so that addresses that go are not given to the next ones
  for (int i = 0; i < 100; ++i) held.push_back(results.hold(memory, SegmentView::read_only));
  for (void* const address : held) results.release(address);
  int kept = 0;
  for (void* const address : held) kept += results.release(address) == Released::before ? 1 : 0;
  EXPECT_EQ(kept, 64);
  EXPECT_EQ(results.release(held.front()), Released::unknown);
  EXPECT_EQ(results.release(held.back()), Released::before);
  // As many bytes as half of what is kept: two of them stay.
  const auto large = memory_of(Bytes{8} << 30, 3, 0);
  const auto half = memory_of((Bytes{8} << 30) - page_bytes(), 3, 0);
  void* const first = results.hold(half, SegmentView::read_only);
  void* const second = results.hold(half, SegmentView::read_only);
  results.release(first);
  results.release(second);
  EXPECT_EQ(results.release(held.back()), Released::unknown);
  EXPECT_EQ(results.release(first), Released::before);
  void* const third = results.hold(large, SegmentView::read_only);
  results.release(third);
  EXPECT_EQ(results.release(first), Released::unknown);
  EXPECT_EQ(results.release(second), Released::unknown);
  EXPECT_EQ(results.release(third), Released::before);
}

/// The last of the ranks gives back what does not stay.
TEST(SharedMemory, PagesBeyondWhatStaysGoWithTheLastHolder) {
  const Bytes page = page_bytes();
  const auto memory = memory_of(3 * page, 2, page);
  for (int i = 0; i < 3; ++i) memory->data()[i * page] = std::byte{7};
  memory->release();
  EXPECT_TRUE(memory->is_held());
  EXPECT_EQ(memory->data()[2 * page], std::byte{7});
  memory->release();
  EXPECT_FALSE(memory->is_held());
  EXPECT_EQ(memory->data()[0], std::byte{7});
  EXPECT_EQ(memory->data()[page], std::byte{0});
  EXPECT_EQ(memory->data()[2 * page], std::byte{0});
}

}  // namespace
}  // namespace tutti
