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
  bool begin(const CallSignature& signature, Collective collective = bcast) {
    std::uint32_t& left = record.left[static_cast<std::size_t>(collective)];
    if (left != 0) return left-- != 0;
    return passing.begin_counted(collective, [&] { return signature; });
  }
  void let(PassingCalls::Which which, std::uint32_t calls) {
    passing.let(bcast, which, true, calls);
    passing.choose(bcast, [](const CallSize&, unsigned) { return true; });
  }
  void add(const CallSignature& signature, const CallSize& size = {}) {
    passing.add(bcast, signature, size);
    passing.choose(bcast, [](const CallSize&, unsigned) { return true; });
  }
  tutti_passing record{};
  PassingCalls passing{record};
};

TEST_F(Passing, NothingPassesAtFirst) {
  EXPECT_FALSE(begin(small));
  EXPECT_EQ(passing.stop(bcast).calls, 0U);
}

TEST_F(Passing, AsManyPassAsAreLet) {
  let(PassingCalls::Which::all, 2);
  EXPECT_TRUE(begin(small));
  EXPECT_TRUE(begin(large));
  EXPECT_FALSE(begin(small));
  EXPECT_FALSE(begin(small, Collective::reduce)) << "of another collective";
  EXPECT_EQ(passing.stop(bcast).calls, 2U);
  EXPECT_EQ(passing.stop(bcast).calls, 0U);
}

TEST_F(Passing, NonePassesOnceStopped) {
  for (const auto which : {PassingCalls::Which::all, PassingCalls::Which::all_counted}) {
    let(which, 2);
    EXPECT_EQ(passing.stop(bcast).calls, 0U);
    EXPECT_FALSE(begin(small));
  }
  let(PassingCalls::Which::none, 2);
  EXPECT_FALSE(begin(small));
}

TEST_F(Passing, OnlyKnownSignaturesPass) {
  let(PassingCalls::Which::known, 3);
  EXPECT_FALSE(begin(small));
  add(small, {8});
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(large));
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.stop(bcast).calls, 2U);
  let(PassingCalls::Which::known, 3);
  EXPECT_TRUE(begin(small)) << "it stays known";
  passing.forget_if_full(bcast);
  EXPECT_TRUE(begin(small)) << "there is place";
}

TEST_F(Passing, OnlyChosenSizesPass) {
  add(small, {8});
  add(large, {800});
  let(PassingCalls::Which::known, 9);
  passing.choose(bcast, [](const CallSize& size, unsigned) { return size.block == 8; });
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(large));
  let(PassingCalls::Which::known, 9);
  passing.choose(bcast, [](const CallSize&, unsigned) { return true; });
  EXPECT_TRUE(begin(large));
  passing.add(bcast, {0, 3}, {});
  EXPECT_FALSE(begin({0, 3})) << "it is not chosen";
}

TEST_F(Passing, OfNotedCallsEachIsChosenByItself) {
  add(small, {8});
  add(large, {800});
  let(PassingCalls::Which::noted, 4);
  passing.choose(bcast, [](const CallSize& size, unsigned call) {
    return size.block == 8 ? call != 1 : call == 1;
  });
  EXPECT_FALSE(begin(large));
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(small));
  EXPECT_TRUE(begin(large));
  EXPECT_TRUE(begin(small));
  const PassedCalls passed = passing.stop(bcast);
  ASSERT_EQ(passed.notes.size(), 3U);
  EXPECT_EQ(passed.notes[0].size.block, 8);
  EXPECT_EQ(passed.notes[1].size.block, 800);
  EXPECT_EQ(passed.notes[2].size.block, 8);
}

TEST_F(Passing, AChangeMakesSignaturesUnknown) {
  let(PassingCalls::Which::known, 3);
  add(small, {8});
  passing.follow(now + 1);
  EXPECT_FALSE(begin(small));
}

TEST_F(Passing, EightSignaturesAreKept) {
  let(PassingCalls::Which::known, 100);
  for (std::uint64_t count = 0; count < 8; ++count) {
    EXPECT_TRUE(passing.wants(bcast, {0, count}));
    add({0, count});
    EXPECT_FALSE(passing.wants(bcast, {0, count})) << "it is known";
  }
  EXPECT_FALSE(passing.wants(bcast, {0, 8}));
  add({0, 8});
  EXPECT_FALSE(begin({0, 8}));
  for (std::uint64_t count = 0; count < 8; ++count) EXPECT_TRUE(begin({0, count})) << count;
  passing.forget_if_full(bcast);
  EXPECT_FALSE(begin({0, 1}));
  EXPECT_TRUE(passing.wants(bcast, {0, 8}));
}

TEST_F(Passing, WhatIsRefusedIsNotAskedForAgain) {
  let(PassingCalls::Which::known, 9);
  passing.refuse(bcast, small);
  EXPECT_FALSE(passing.wants(bcast, small));
  EXPECT_FALSE(begin(small));
  EXPECT_TRUE(passing.wants(bcast, large));
  passing.follow(now + 1);
  EXPECT_TRUE(passing.wants(bcast, small));
}

TEST_F(Passing, ThoseThatOthersInspectAreCounted) {
  let(PassingCalls::Which::all, 9);
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.take_uncounted(), 0U);
  let(PassingCalls::Which::known, 9);
  add(small, {8});
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(begin(large));
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.take_uncounted(), 2U);
  EXPECT_EQ(passing.take_uncounted(), 0U);
  let(PassingCalls::Which::all_counted, 9);
  EXPECT_TRUE(begin(large));
  EXPECT_EQ(passing.take_uncounted(), 1U);
}

TEST_F(Passing, OnlyNumberedCallsHaveANumber) {
  passing.let(bcast, PassingCalls::Which::all, false, 9);
  EXPECT_TRUE(begin(small));
  EXPECT_EQ(passing.stop(bcast).calls, 0U);
}

TEST_F(Passing, TheSizeOfThePassingCallIsKnown) {
  let(PassingCalls::Which::known, 9);
  add(small, {8});
  EXPECT_EQ(passing.latest(bcast), nullptr) << "none has passed";
  EXPECT_TRUE(begin(small));
  ASSERT_NE(passing.latest(bcast), nullptr);
  EXPECT_EQ(passing.latest(bcast)->block, 8);
  passing.note_inspected(bcast);
  EXPECT_EQ(passing.latest(bcast), nullptr);
}

TEST_F(Passing, NotesFollowTheSequenceOfCalls) {
  let(PassingCalls::Which::noted, 4);
  add(small, {8, 0, true});
  add(large, {{}, 800, false});
  EXPECT_TRUE(begin(small));
  EXPECT_TRUE(passing.is_noted(bcast));
  passing.note(bcast, 2, 2.5);
  EXPECT_TRUE(begin(large));
  EXPECT_EQ(passing.passed(bcast), 2U);
  passing.note(bcast, 3, 3.25);
  EXPECT_TRUE(begin(small)) << "which fails";
  EXPECT_FALSE(begin({0, 3})) << "it is not known";
  const PassedCalls passed = passing.stop(bcast);
  EXPECT_EQ(passed.calls, 3U);
  ASSERT_EQ(passed.notes.size(), 3U);
  EXPECT_EQ(passed.notes[2].elapsed, -1);
  EXPECT_EQ(passed.notes[0].size.block, 8);
  EXPECT_TRUE(passed.notes[0].size.is_compared);
  EXPECT_EQ(passed.notes[0].elapsed, 500'000'000);
  EXPECT_EQ(passed.notes[0].ended, 2.5);
  EXPECT_EQ(passed.notes[1].size.own, 800);
  EXPECT_FALSE(passed.notes[1].size.is_compared);
  EXPECT_EQ(passed.notes[1].elapsed, 250'000'000);
  EXPECT_EQ(passing.take_uncounted(), 3U);
  let(PassingCalls::Which::known, 1);
  EXPECT_TRUE(begin(small));
  EXPECT_FALSE(passing.is_noted(bcast));
  EXPECT_TRUE(passing.stop(bcast).notes.empty());
}

}  // namespace
}  // namespace tutti
