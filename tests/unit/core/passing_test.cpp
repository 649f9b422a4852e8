/// Finding the record of a communicator by its handle.
#include "core/passing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "core/types.hpp"

namespace tutti {
namespace {

constexpr int bcast = tutti_number_of_bcast;

struct Recent : testing::Test {
  Recent() { std::ranges::fill(recent.records, &none); }
  /// As for a communicator of late of this handle, whose next `calls` bcasts pass.
  void add(tutti_passing& record, std::uintptr_t comm, std::uintptr_t bits, std::uint32_t calls) {
    record.comm = comm;
    record.bits = bits;
    record.left[bcast] = calls;
    *tutti_recent_place(&recent, comm) = &record;
  }
  tutti_passing none = TUTTI_NO_PASSING;
  tutti_passing one{};
  tutti_passing other{};
  tutti_recent recent{};
};

TEST_F(Recent, HasTheNumbersOfAllCollectives) {
  EXPECT_EQ(tutti_collectives, static_cast<int>(all_collectives.size()));
  EXPECT_EQ(bcast, static_cast<int>(Collective::bcast));
}

TEST_F(Recent, HasNoCommunicatorAtFirst) {
  for (const std::uintptr_t comm : {0x44000000UL, 0x84000001UL, 0x7f0123456780UL}) {
    EXPECT_EQ(tutti_recent_record(&recent, comm), nullptr);
    EXPECT_FALSE(tutti_passes(&recent, comm, bcast));
  }
  EXPECT_FALSE(tutti_passes(&recent, 0, bcast)) << "no call passes on no communicator";
}

TEST_F(Recent, AsManyCallsPassAsAreLeft) {
  add(one, 0x7f0123456780, ~std::uintptr_t{}, 2);
  EXPECT_TRUE(tutti_passes(&recent, one.comm, bcast));
  EXPECT_FALSE(tutti_passes(&recent, one.comm, tutti_number_of_reduce));
  EXPECT_TRUE(tutti_passes(&recent, one.comm, bcast));
  EXPECT_FALSE(tutti_passes(&recent, one.comm, bcast));
  EXPECT_EQ(one.left[bcast], 0U);
}

TEST_F(Recent, HandlesOfFewerBitsIgnoreTheOthersOfAWord) {
  add(one, 0x84000001, 0xffffffff, 1);
  EXPECT_EQ(tutti_recent_record(&recent, 0xdeadbeef84000001), &one);
  EXPECT_EQ(tutti_recent_record(&recent, 0x84000002), nullptr);
  add(one, 0x7f0184000001, ~std::uintptr_t{}, 1);
  EXPECT_EQ(tutti_recent_record(&recent, 0x7f0284000001), nullptr);
}

TEST_F(Recent, ACommunicatorAtTheSamePlaceTakesIt) {
  const std::uintptr_t comm = 0x84000001;
  std::uintptr_t same = comm + 1;
  while (tutti_recent_place(&recent, same) != tutti_recent_place(&recent, comm)) ++same;
  add(one, comm, 0xffffffff, 5);
  add(other, same, 0xffffffff, 5);
  EXPECT_FALSE(tutti_passes(&recent, comm, bcast));
  EXPECT_TRUE(tutti_passes(&recent, same, bcast));
  EXPECT_EQ(one.left[bcast], 5U);
}

TEST_F(Recent, CommunicatorsMadeInARowAreSpread) {
  for (const std::uintptr_t step : {0x1U, 0x180U, 0x220U}) {
    bool taken[tutti_recent_records] = {};
    for (std::uintptr_t made = 0; made < 2 * tutti_recent_records; ++made) {
      taken[tutti_recent_place(&recent, 0x84000000 + made * step) - recent.records] = true;
    }
    EXPECT_GE(std::ranges::count(taken, true), tutti_recent_records / 2) << step;
  }
}

}  // namespace
}  // namespace tutti
