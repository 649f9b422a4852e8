/// Times of calls, natively and through Tutti.
#include "knowledge/call_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tutti {
namespace {

constexpr CallKind one_kind = {Collective::gather, 0, 64};

TEST(CallTimer, TellsMediansSeldomAndOfOneKind) {
  CallTimer timer;
  EXPECT_FALSE(timer.take(one_kind, ran_native, 3.0));
  EXPECT_TRUE(timer.take(one_kind, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 3.0) << "the lower of two";
  EXPECT_FALSE(timer.take(one_kind, ran_native, 9.0)) << "the third call is not looked at";
  EXPECT_TRUE(timer.take(one_kind, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 9.0);
  int told = 0;
  for (int call = 5; call <= 1024; ++call)
    told += timer.take(one_kind, ran_native, call % 2 * 9.0 + 1) ? 1 : 0;
  EXPECT_LE(told, 8);
  EXPECT_FALSE(timer.take({Collective::gather, 0, 128}, 1, 1.0));
  EXPECT_TRUE(std::isnan(timer.times().native)) << "of another kind";
}

TEST(CallKind, ResemblesWhatIsNeitherHalfNorTwiceAsLarge) {
  const auto with = [](Bytes block) { return CallKind{Collective::gather, 0, block}; };
  for (const Bytes block : {33, 63, 64, 65, 127}) {
    EXPECT_TRUE(resemble(one_kind, with(block)) && resemble(with(block), one_kind)) << block;
  }
  for (const Bytes block : {0, 32, 128}) EXPECT_FALSE(resemble(one_kind, with(block))) << block;
  EXPECT_TRUE(resemble(with(0), with(0)));
  EXPECT_FALSE(resemble(one_kind, {Collective::gather, 1, 64}));
  EXPECT_FALSE(resemble(one_kind, {Collective::scatter, 0, 64}));
}

TEST(CallTimer, GivesUpChoicesThatTakeNoLess) {
  using Lost = std::array<RunMark, most_choices>;
  CallTimer timer;
  timer.take(one_kind, ran_native, 10.0);
  timer.take(one_kind, ran_native, 10.0);
  EXPECT_FALSE(timer.take(one_kind, 1, 14.0)) << "a first call may have to set up much";
  EXPECT_FALSE(timer.take(one_kind, 1, 9.0)) << "the lower of two";
  EXPECT_FALSE(timer.take(one_kind, 1, 14.0));
  EXPECT_TRUE(timer.take(one_kind, 1, 14.0)) << "the lower of two in the middle of four";
  EXPECT_EQ(timer.times().lost, (Lost{1}));
  EXPECT_FALSE(timer.take(one_kind, 1, 99.0)) << "a call that was leased to it before";
  EXPECT_TRUE(timer.take(one_kind, 2, 16.0)) << "a clear loss";
  EXPECT_FALSE(timer.take(one_kind, 3, 9.9));
  EXPECT_FALSE(timer.take(one_kind, 4, 9.9)) << "another's first call";
  EXPECT_TRUE(timer.take(one_kind, 4, 9.9)) << "a gain of a hundredth is none";
  EXPECT_EQ(timer.times().lost, (Lost{1, 2, 4}));
  EXPECT_FALSE(timer.take(one_kind, 3, 99.0)) << "as many as may be have lost";
  timer.take({Collective::gather, 1, 64}, ran_native, 1.0);
  EXPECT_EQ(timer.times().lost, Lost{});
}

}  // namespace
}  // namespace tutti
