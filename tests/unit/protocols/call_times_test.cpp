/// Times of calls, natively and with Tutti's choice.
#include "protocols/call_times.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace tutti {
namespace {

constexpr CallSignature signature = {Collective::gather, 0, 64};

TEST(CallTimer, ChangesMediansSeldomAndKeepsOneSignature) {
  CallTimer timer;
  EXPECT_FALSE(timer.take(signature, ran_native, 3.0));
  EXPECT_TRUE(timer.take(signature, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 3.0) << "the lower of two";
  EXPECT_FALSE(timer.take(signature, ran_native, 9.0)) << "no evaluation after the third call";
  EXPECT_TRUE(timer.take(signature, ran_native, 9.0));
  EXPECT_EQ(timer.times().native, 9.0);
  int changes = 0;
  for (int call = 5; call <= 1024; ++call)
    changes += timer.take(signature, ran_native, call % 2 * 9.0 + 1) ? 1 : 0;
  EXPECT_LE(changes, 8);
  EXPECT_FALSE(timer.take({Collective::gather, 0, 128}, 1, 1.0));
  EXPECT_TRUE(std::isnan(timer.times().native)) << "another signature";
}

TEST(CallSignature, ResemblesOneWhoseBlockDiffersByLessThanAFactorOf2) {
  const auto with = [](Bytes block) { return CallSignature{Collective::gather, 0, block}; };
  for (const Bytes block : {33, 63, 64, 65, 127}) {
    EXPECT_TRUE(resemble(signature, with(block)) && resemble(with(block), signature)) << block;
  }
  for (const Bytes block : {0, 32, 128}) EXPECT_FALSE(resemble(signature, with(block))) << block;
  EXPECT_TRUE(resemble(with(0), with(0)));
  EXPECT_FALSE(resemble(signature, {Collective::gather, 1, 64}));
  EXPECT_FALSE(resemble(signature, {Collective::scatter, 0, 64}));
}

/// Takes calls with these times in seconds. Expects that only the last one may change the timer's
/// times; returns whether it does.
bool changes_at_the_end(CallTimer& timer, AlgorithmId ran, const std::vector<double>& calls) {
  for (std::size_t call = 0; call + 1 < calls.size(); ++call) {
    EXPECT_FALSE(timer.take(signature, ran, calls[call])) << "call " << call;
  }
  return timer.take(signature, ran, calls.back());
}

using Lost = std::array<AlgorithmId, max_choices>;

TEST(CallTimer, GivesUpChoicesThatTakeMuchLonger) {
  CallTimer timer;
  EXPECT_TRUE(changes_at_the_end(timer, ran_native, {10, 10}));
  EXPECT_TRUE(changes_at_the_end(timer, 1, {14, 9, 14, 14}))
      << "the first call may include set-up, and the lower of two takes no longer";
  EXPECT_EQ(timer.times().lost, (Lost{1}));
  EXPECT_FALSE(timer.take(signature, 1, 99)) << "a call selected before the loss";
  EXPECT_TRUE(timer.take(signature, 2, 16)) << "at once";
  EXPECT_FALSE(timer.take(signature, 3, 14));
  EXPECT_TRUE(changes_at_the_end(timer, 4, {14, 14})) << "a first call after another choice";
  EXPECT_EQ(timer.times().lost, (Lost{1, 2, 4}));
  EXPECT_FALSE(timer.take(signature, 3, 99)) << "the maximum number of choices has lost";
  timer.take({Collective::gather, 1, 64}, ran_native, 1);
  EXPECT_EQ(timer.times().lost, Lost{});
}

TEST(CallTimer, MeasuresNativeAgainBeforeASmallLossDecides) {
  CallTimer timer;
  changes_at_the_end(timer, ran_native, {10, 10});  // fast ones by chance
  EXPECT_TRUE(changes_at_the_end(timer, 1, {11, 11}));
  EXPECT_TRUE(timer.times().native_is_due);
  EXPECT_FALSE(timer.take(signature, 1, 11)) << "a call selected before native was due";
  EXPECT_TRUE(changes_at_the_end(timer, ran_native, {12, 10, 12, 12, 15}));
  EXPECT_FALSE(timer.times().native_is_due);
  EXPECT_EQ(timer.times().native, 12);
  EXPECT_EQ(timer.times().lost, Lost{}) << "the choice has won";
}

TEST(CallTimer, MeasuresNativeAgainIfAChoiceGainsLittle) {
  CallTimer timer;
  changes_at_the_end(timer, ran_native, {13, 13});  // slow ones by chance
  EXPECT_TRUE(changes_at_the_end(timer, 1, std::vector<double>(16, 11)));
  EXPECT_TRUE(timer.times().native_is_due);
  EXPECT_TRUE(changes_at_the_end(timer, ran_native, {12, 12, 12, 12, 12}));
  EXPECT_TRUE(changes_at_the_end(timer, 1, std::vector<double>(64 - 16, 11)))
      << "four times as many";
  EXPECT_TRUE(changes_at_the_end(timer, ran_native, {10, 10, 10, 10, 10}));
  EXPECT_EQ(timer.times().lost, (Lost{1})) << "this time it has lost";
}

TEST(CallTimer, LeavesAClearWinnerAlone) {
  CallTimer timer;
  changes_at_the_end(timer, ran_native, {15, 15});
  EXPECT_FALSE(changes_at_the_end(timer, 1, std::vector<double>(1000, 11)));
}

/// The number of 1,000 programs of 2,000 calls each that end with a choice whose calls take
/// `share_of_native` of native's time, if chance delays each call, by 10 % in the mean.
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
      const double delay = -0.1 * std::log((static_cast<double>(random()) + 1) / 0x1p32);
      timer.take(signature, runs_choice ? 1 : ran_native,
                 (runs_choice ? share_of_native : 1) * (1 + delay));
    }
    count += runs_choice ? 1 : 0;
  }
  return count;
}

TEST(CallTimer, IsSeldomWrongIfCallsDifferByChance) {
  EXPECT_GE(programs_that_end_with(0.9), 800);
  EXPECT_LE(programs_that_end_with(1.02), 10);
  EXPECT_EQ(programs_that_end_with(1.05), 0);
}

}  // namespace
}  // namespace tutti
