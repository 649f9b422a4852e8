/// Which calls pass, and how many of them are counted.
#include "select/passing_calls.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

struct Passing : testing::Test {
  static constexpr unsigned now = 7;
  static constexpr Collective bcast = Collective::bcast;
  static constexpr CallSignature small = {0, 2, 10};
  static constexpr CallSignature large = {0, 200, 10};

  Passing() { passing.follow(now); }
  bool begin(const CallSignature& signature, Collective collective = bcast, unsigned when = now) {
    return passing.begin(collective, when, [&] { return signature; });
  }
  PassingCalls passing;
};

TEST_F(Passing, NothingPassesAtFirst) {
  EXPECT_FALSE(begin(small));
  EXPECT_EQ(passing.stop(bcast), 0U);
}

TEST_F(Passing, AsManyPassAsAreLet) {
  passing.let(bcast, PassingCalls::Which::all, false, 2);
  EXPECT_TRUE(begin(small));
  EXPECT_TRUE(begin(large));
  EXPECT_FALSE(begin(small));
  EXPECT_FALSE(begin(small, Collective::reduce)) << "of another collective";
  EXPECT_EQ(passing.stop(bcast), 2U);
  EXPECT_EQ(passing.stop(bcast), 0U);
}

TEST_F(Passing, NonePassesOnceStoppedOrAfterAChange) {
  passing.let(bcast, PassingCalls::Which::all, false, 2);
  EXPECT_FALSE(begin(small, bcast, now + 1));
  EXPECT_EQ(passing.stop(bcast), 0U);
  EXPECT_FALSE(begin(small));
  passing.let(bcast, PassingCalls::Which::none, true, 2);
  EXPECT_FALSE(begin(small));
}

TEST_F(Passing, OnlyKnownSignaturesPass) {
  passing.let(bcast, PassingCalls::Which::known, true, 3);
  EXPECT_FALSE(begin(small));
  passing.add(bcast, small, "native: why");
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(large));
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.stop(bcast), 2U);
  passing.let(bcast, PassingCalls::Which::known, true, 3);
  EXPECT_TRUE(begin(small)) << "it stays known";
  passing.forget(bcast);
  EXPECT_FALSE(begin(small));
}

TEST_F(Passing, AChangeMakesSignaturesUnknown) {
  passing.let(bcast, PassingCalls::Which::known, true, 3);
  passing.add(bcast, small, "native: why");
  passing.follow(now + 1);
  EXPECT_FALSE(begin(small, bcast, now + 1));
}

TEST_F(Passing, TheOldestSignatureGivesWay) {
  passing.let(bcast, PassingCalls::Which::known, true, 100);
  for (std::uint64_t count = 0; count < 5; ++count) passing.add(bcast, {0, count}, "native");
  EXPECT_FALSE(begin({0, 0}));
  for (std::uint64_t count = 1; count < 5; ++count) EXPECT_TRUE(begin({0, count})) << count;
}

TEST_F(Passing, ThoseThatOthersInspectAreCounted) {
  passing.let(bcast, PassingCalls::Which::all, false, 9);
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.take_uncounted(), 0U);
  passing.let(bcast, PassingCalls::Which::known, true, 9);
  passing.add(bcast, small, "native");
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(large));
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.take_uncounted(), 2U);
  EXPECT_EQ(passing.take_uncounted(), 0U);
}

TEST_F(Passing, WhatThePassingCallRunsIsKnown) {
  passing.let(bcast, PassingCalls::Which::known, true, 9);
  passing.add(bcast, small, "native: small");
  EXPECT_EQ(passing.latest_text(bcast), nullptr) << "none has passed";
  EXPECT_TRUE(begin(small));
  ASSERT_NE(passing.latest_text(bcast), nullptr);
  EXPECT_EQ(*passing.latest_text(bcast), "native: small");
  passing.note_inspected(bcast);
  EXPECT_EQ(passing.latest_text(bcast), nullptr);
}

}  // namespace
}  // namespace tutti
