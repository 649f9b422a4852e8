/// Times of calls, natively and through Tutti.
#include "protocols/call_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace tutti {
namespace {

constexpr CallSignature one_kind = {Collective::gather, 0, 64};

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

TEST(CallSignature, ResemblesWhatIsNeitherHalfNorTwiceAsLarge) {
  const auto with = [](Bytes block) { return CallSignature{Collective::gather, 0, block}; };
  for (const Bytes block : {33, 63, 64, 65, 127}) {
    EXPECT_TRUE(resemble(one_kind, with(block)) && resemble(with(block), one_kind)) << block;
  }
  for (const Bytes block : {0, 32, 128}) EXPECT_FALSE(resemble(one_kind, with(block))) << block;
  EXPECT_TRUE(resemble(with(0), with(0)));
  EXPECT_FALSE(resemble(one_kind, {Collective::gather, 1, 64}));
  EXPECT_FALSE(resemble(one_kind, {Collective::scatter, 0, 64}));
}

/// Takes calls, each of so many seconds; true if the last one, and no other, was to be told.
bool tells_at_the_end(CallTimer& timer, AlgorithmId ran, const std::vector<double>& calls) {
  for (std::size_t call = 0; call + 1 < calls.size(); ++call) {
    EXPECT_FALSE(timer.take(one_kind, ran, calls[call])) << "call " << call;
  }
  return timer.take(one_kind, ran, calls.back());
}

using Lost = std::array<AlgorithmId, max_choices>;

TEST(CallTimer, GivesUpChoicesThatTakeMuchLonger) {
  CallTimer timer;
  EXPECT_TRUE(tells_at_the_end(timer, ran_native, {10, 10}));
  EXPECT_TRUE(tells_at_the_end(timer, 1, {14, 9, 14, 14}))
      << "a first call may have to set up much, the lower of two does not take longer";
  EXPECT_EQ(timer.times().lost, (Lost{1}));
  EXPECT_FALSE(timer.take(one_kind, 1, 99)) << "a call that was extended_until to it before";
  EXPECT_TRUE(timer.take(one_kind, 2, 16)) << "at once";
  EXPECT_FALSE(timer.take(one_kind, 3, 14));
  EXPECT_TRUE(tells_at_the_end(timer, 4, {14, 14})) << "another's first call is not its own";
  EXPECT_EQ(timer.times().lost, (Lost{1, 2, 4}));
  EXPECT_FALSE(timer.take(one_kind, 3, 99)) << "as many as may be have lost";
  timer.take({Collective::gather, 1, 64}, ran_native, 1);
  EXPECT_EQ(timer.times().lost, Lost{});
}

TEST(CallTimer, MeasuresNativeAgainBeforeASmallLossCounts) {
  CallTimer timer;
  tells_at_the_end(timer, ran_native, {10, 10});  // fast ones by chance
  EXPECT_TRUE(tells_at_the_end(timer, 1, {11, 11}));
  EXPECT_TRUE(timer.times().native_is_due);
  EXPECT_FALSE(timer.take(one_kind, 1, 11))
      << "a call that was extended_until to the choice before";
  EXPECT_TRUE(tells_at_the_end(timer, ran_native, {12, 10, 12, 12, 15}));
  EXPECT_FALSE(timer.times().native_is_due);
  EXPECT_EQ(timer.times().native, 12);
  EXPECT_EQ(timer.times().lost, Lost{}) << "the choice has won";
}

TEST(CallTimer, MeasuresNativeAgainWhereAChoiceGainsLittle) {
  CallTimer timer;
  tells_at_the_end(timer, ran_native, {13, 13});  // slow ones by chance
  EXPECT_TRUE(tells_at_the_end(timer, 1, std::vector<double>(16, 11)));
  EXPECT_TRUE(timer.times().native_is_due);
  EXPECT_TRUE(tells_at_the_end(timer, ran_native, {12, 12, 12, 12, 12}));
  EXPECT_TRUE(tells_at_the_end(timer, 1, std::vector<double>(64 - 16, 11))) << "four times as many";
  EXPECT_TRUE(tells_at_the_end(timer, ran_native, {10, 10, 10, 10, 10}));
  EXPECT_EQ(timer.times().lost, (Lost{1})) << "this time it has lost";
}

TEST(CallTimer, LeavesAClearWinnerAlone) {
  CallTimer timer;
  tells_at_the_end(timer, ran_native, {15, 15});
  EXPECT_FALSE(tells_at_the_end(timer, 1, std::vector<double>(1000, 11)));
}

/// Of a thousand programs of 2,000 calls each, how many end with a choice that takes so much of
/// native's time, where every call is held up by chance, in the mean by a tenth.
int programs_that_end_with(double share_of_native) {
  int count = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    CallTimer timer;
    bool runs_choice = false;
    for (int call = 0; call < 2000; ++call) {
      const SignatureTimes& times = timer.times();
      const bool is_known = !std::isnan(times.native) && !times.native_is_due;
      runs_choice = is_known && times.lost == Lost{};
      const double held_up = -0.1 * std::log((static_cast<double>(random()) + 1) / 0x1p32);
      timer.take(one_kind, runs_choice ? 1 : ran_native,
                 (runs_choice ? share_of_native : 1) * (1 + held_up));
    }
    count += runs_choice ? 1 : 0;
  }
  return count;
}

TEST(CallTimer, IsSeldomWrongWhereCallsDifferByChance) {
  EXPECT_GE(programs_that_end_with(0.9), 800);
  EXPECT_LE(programs_that_end_with(1.02), 10);
  EXPECT_EQ(programs_that_end_with(1.05), 0);
}

}  // namespace
}  // namespace tutti
