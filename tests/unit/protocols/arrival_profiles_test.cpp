/// The profiles of arrivals that calls are chosen by: when they come, what they cost and tell.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "unit/arrival_table.hpp"

namespace tutti {
namespace {

using testing_support::Table;

/// Ranks that tell before each call, or before each eighth, with one of them `late`.
class Calls {
 public:
  explicit Calls(int p) : p_(p), table(p) {}

  /// Up to `last`; all go by one profile at each call. The number of the first call that goes by a
  /// new one, or 0.
  CallNumber run(CallNumber last, CallNumber told_one_in, Rank late, double seconds) {
    CallNumber first_new = 0;
    for (; call_ <= last; ++call_) {
      std::shared_ptr<const ArrivalEpoch> one;
      for (Rank rank = 0; rank < p_; ++rank) {
        const auto profile = table.profile(rank, call_);
        if (rank == 0) one = profile;
        EXPECT_EQ(profile == nullptr ? 0 : profile->number, one == nullptr ? 0 : one->number);
        if (call_ % told_one_in != 0) continue;
        const double arrival = static_cast<double>(call_) + (rank == late ? seconds : 0);
        table.tell(rank,
                   {call_ + 1, arrival, rank == 2 ? 3e-4 : 1e-4, 8, Collective::gather, false});
      }
      const std::int64_t number = one == nullptr ? 0 : one->number;
      if (number != number_ && first_new == 0) first_new = call_;
      number_ = number;
      newest = one;
    }
    return first_new;
  }

 private:
  int p_;
  CallNumber call_ = 1;
  std::int64_t number_ = 0;

 public:
  Table table;
  std::shared_ptr<const ArrivalEpoch> newest;
};

TEST(ArrivalPictures, AreNotMadeOfOneRankThatIsKnownAlone) {
  Calls calls(4);
  calls.run(8, 1, 1, 0.01);
  ASSERT_NE(calls.newest, nullptr);
  const std::int64_t before = calls.newest->number;
  // A late rank that speaks alone is not the first of all for that.
  for (CallNumber call = 20; call < 60; ++call) {
    calls.table.tell(1, {call, static_cast<double>(call), 1e-4, 8, Collective::gather, false});
  }
  calls.run(100, 1000, 1, 0);
  EXPECT_EQ(calls.newest->number, before);
}

TEST(ArrivalPictures, AreKnownAfterAFewCallsWithTheWorstRanksError) {
  Calls calls(4);
  // Calls 2 to 4 are told of when all have left the call before; call 5 has its lease by then.
  EXPECT_EQ(calls.run(8, 1, 1, 0.01), 6);
  ASSERT_NE(calls.newest, nullptr);
  EXPECT_NEAR(calls.newest->arrivals[1], 0.01, 1e-12);
  EXPECT_EQ(calls.newest->ranking, (std::vector<double>{0, 3, 1, 2}));
  EXPECT_EQ(calls.newest->error, 3e-4);
  EXPECT_EQ(calls.newest->block, 8);
}

TEST(ArrivalPictures, CostLittleWhileNothingChanges) {
  Calls calls(4);
  calls.run(14, 1, 1, 0.01);  // ranks tell for eight calls after the change at the sixth
  const long before = calls.table.messages();
  EXPECT_EQ(calls.run(1008, 8, 1, 0.01), 0);
  // One message to each rank for 32 calls, and some while leases grow; no epoch is made.
  EXPECT_LE(calls.table.messages() - before, 4 * (1000 / 32 + 8));
  // Nor does anybody ask, but for the first call.
  EXPECT_LE(calls.table.questions(), 3);
}

TEST(ArrivalPictures, FollowANewLateRank) {
  Calls calls(4);
  calls.run(104, 8, 1, 0.01);
  const CallNumber changed = calls.run(304, 8, 3, 0.01);
  EXPECT_GT(changed, 104);
  // Four forecasts, and what was extended_until by then: half a lease and a call ahead of its end,
  // and the next one.
  EXPECT_LE(changed, 104 + 4 * 8 + 16 + 1 + 32 + 1);
  EXPECT_EQ(calls.newest->ranking[3], 3);
}

TEST(ArrivalPictures, AreThereWhenPersistentCallsStart) {
  // They tell of a call at its edge, after its start, and now these are late, now those.
  Table table(4);
  for (CallNumber call = 1; call <= 100; ++call) {
    for (Rank rank = 0; rank < 4; ++rank) table.profile(rank, call);
    for (Rank rank = 0; rank < 4; ++rank) {
      const double late = rank == static_cast<Rank>(call / 8 % 4) ? 1.0 : 0.0;
      const double arrival = static_cast<double>(call) + late;
      table.tell(rank, {call, arrival, 1e-4, 8, Collective::gather, false});
    }
  }
  EXPECT_LE(table.questions(), 4) << "but for the first call nobody waits for an answer";
  EXPECT_GT(table.profile(0, 100)->number, 4);
}

TEST(ArrivalPictures, NeedAWordOfEachRankAndAnErrorThatIsKnown) {
  Table table(2);
  EXPECT_EQ(table.profile(0, 1), nullptr);
  for (CallNumber call = 2; call < 40; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    EXPECT_EQ(table.profile(0, call), nullptr);  // rank 1 has not said anything
  }
  for (CallNumber call = 40; call < 80; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    table.tell(1, {call, 2.0, std::nan(""), 0, Collective::gather, false});
    EXPECT_EQ(table.profile(0, call), nullptr);
  }
  for (CallNumber call = 80; call < 83; ++call) {
    table.tell(0, {call, 1.0, 1e-4, 0, Collective::gather, false});
    table.tell(1, {call, 2.0, 1e-4, 0, Collective::gather, false});
  }
  EXPECT_NE(table.profile(0, 82 + 16 + 33), nullptr);
}

/// Two ranks whose calls take `seconds` after the last arrival; returns the profile that the call
/// behind them goes by.
std::shared_ptr<const ArrivalEpoch> measured(Table& table, CallNumber first, CallNumber last,
                                             AlgorithmId ran, double seconds) {
  for (CallNumber call = first; call <= last; ++call) {
    for (Rank rank = 0; rank < 2; ++rank) {
      table.profile(rank, call);
      const double arrival = 100.0 * static_cast<double>(call) + rank;
      const TimingSample sample = {
          {Collective::gather, 1, 64},
          Collective::gather,
          ran,
          arrival,
          100.0 * static_cast<double>(call) + 1 + (rank == 0 ? seconds : 0)};
      table.tell(rank, {call + 1, arrival + 100, 1e-4, 8, Collective::gather, false, sample});
    }
  }
  const auto profile = table.profile(0, last + 40);  // beyond all leases
  EXPECT_EQ(profile->number, table.profile(1, last + 40)->number);
  return profile;
}

TEST(ArrivalPictures, BringWhatCallsHaveTaken) {
  Table table(2);
  const auto first = measured(table, 1, 4, ran_native, 8.0);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->times.kind, (CallSignature{Collective::gather, 1, 64}));
  EXPECT_DOUBLE_EQ(first->times.native, 8.0);
  EXPECT_EQ(first->times.lost, (std::array<AlgorithmId, max_choices>{}));
  EXPECT_FALSE(first->times.native_is_due);
  const auto second = measured(table, 7, 8, 17, 7.9);
  EXPECT_GT(second->number, first->number);
  EXPECT_TRUE(second->times.native_is_due);
  const auto third = measured(table, 9, 13, ran_native, 6.0);
  EXPECT_FALSE(third->times.native_is_due);
  EXPECT_DOUBLE_EQ(third->times.native, 6.0);
  EXPECT_EQ(third->times.lost, (std::array<AlgorithmId, max_choices>{17}));
}

}  // namespace
}  // namespace tutti
