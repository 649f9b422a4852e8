/// Clocks that go at rates of their own, and the measurement of offsets.
#include "run/clock.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(ClockLine, FollowsAClockThatGoesFaster) {
  constexpr double rate = 50e-6;
  const auto ahead = [](double now) { return 1000 + rate * now; };
  ClockLine line;
  line.compare(10, ahead(10));
  EXPECT_EQ(line.offset_at(3610), ahead(10)) << "as long as nothing is known of its rate";
  EXPECT_EQ(line.missed(), 0);
  line.compare(12, ahead(12));
  EXPECT_NEAR(line.missed(), 2 * rate, 1e-9);
  EXPECT_NEAR(line.offset_at(3610), ahead(3610), 1e-8);
  EXPECT_NEAR(line.offset_at(10.5), ahead(10.5), 1e-8) << "between the comparisons";
  line.compare(76, ahead(76) + 1e-5);  // a comparison that was off by as much
  EXPECT_NEAR(line.missed(), 1e-5, 1e-9);
  EXPECT_NEAR(line.offset_at(140), ahead(140), 2.1e-5);
}

TEST(ClockLine, TakesTheLatestOfTwoComparisonsAtOnce) {
  ClockLine line;
  line.compare(5, 1);
  line.compare(5, 2);
  EXPECT_EQ(line.offset_at(100), 2);
}

TEST(ClockLine, KeepsItsRateWhereTwoComparisonsFollowEachOther) {
  ClockLine line;
  line.compare(10, 1);
  line.compare(12, 1.0001);
  line.compare(12.0005, 1.000102);  // 2 us off
  EXPECT_NEAR(line.offset_at(76), 1.0001 + 64 * 50e-6, 1e-5);
}

TEST(ClockOffset, GoesByTheFastestPingPong) {
  ClockOffset offset;
  offset.add(0, 107, 10);
  offset.add(20, 121, 22);
  offset.add(30, 131, 40);
  EXPECT_EQ(offset.offset(), 100);
  EXPECT_EQ(offset.error(), 1);
}

}  // namespace
}  // namespace tutti
