/// Arrival profiles in the agreement: when they arrive, what they cost and what they contain.
#include <gtest/gtest.h>

#include <cmath>

#include "unit/arrival_table.hpp"

namespace tutti {
namespace {

using testing_support::Table;

/// Ranks that send estimates for each call, or for some, with one of them `late`.
class Calls {
 public:
  explicit Calls(int p) : p_(p), table(p) {}

  /// Runs the calls up to `last`, of which one in `interval` has estimates, and expects that all
  /// ranks use one profile in each. Returns the first call with a new profile, or 0.
  CallNumber run(CallNumber last, CallNumber interval, Rank late, double seconds) {
    CallNumber first_new = 0;
    for (; call_ <= last; ++call_) {
      std::shared_ptr<const ArrivalEpoch> one;
      for (Rank rank = 0; rank < p_; ++rank) {
        const auto profile = table.profile(rank, call_);
        if (rank == 0) one = profile;
        EXPECT_EQ(profile == nullptr ? 0 : profile->number, one == nullptr ? 0 : one->number);
        if (call_ % interval != 0) continue;
        const double arrival = static_cast<double>(call_) + (rank == late ? seconds : 0);
        table.tell(rank, {call_ + 1, arrival, rank == 2 ? 3e-4 : 1e-4, Collective::gather, false});
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

TEST(ArrivalProfiles, NeedMoreThanOneEstimate) {
  Calls calls(4);
  calls.run(8, 1, 1, 0.01);
  ASSERT_NE(calls.newest, nullptr);
  const std::int64_t before = calls.newest->number;
  // The only rank that sends estimates is not the first of all for that.
  for (CallNumber call = 20; call < 60; ++call) {
    calls.table.tell(1, {call, static_cast<double>(call), 1e-4, Collective::gather, false});
  }
  calls.run(100, 1000, 1, 0);
  EXPECT_EQ(calls.newest->number, before);
}

TEST(ArrivalProfiles, AreReadyAfterAFewCalls) {
  Calls calls(4);
  // The estimates for calls 2 to 4 arrive when all ranks have left the call before. By then call 5
  // has its extension.
  EXPECT_EQ(calls.run(8, 1, 1, 0.01), 6);
  ASSERT_NE(calls.newest, nullptr);
  EXPECT_NEAR(calls.newest->arrivals[1], 0.01, 1e-12);
  EXPECT_EQ(calls.newest->ranking, (std::vector<double>{0, 3, 1, 2}));
}

TEST(ArrivalProfiles, CostLittleWhileNothingChanges) {
  Calls calls(4);
  calls.run(14, 1, 1, 0.01);  // estimates for 8 calls after the change at call 6
  const long before = calls.table.messages();
  EXPECT_EQ(calls.run(1008, 8, 1, 0.01), 0);
  // One message to each rank for 32 calls, and some while the epoch length grows; no epochs.
  EXPECT_LE(calls.table.messages() - before, 4 * (1000 / 32 + 8));
  // Ranks ask for the first call only.
  EXPECT_LE(calls.table.questions(), 3);
}

TEST(ArrivalProfiles, FollowANewLateRank) {
  Calls calls(4);
  calls.run(104, 8, 1, 0.01);
  const CallNumber changed = calls.run(304, 8, 3, 0.01);
  EXPECT_GT(changed, 104);
  // 4 forecasts, and the calls of extensions sent by then: half an epoch length and a call ahead of
  // the end, and the next extension.
  EXPECT_LE(changed, 104 + 4 * 8 + 16 + 1 + 32 + 1);
  EXPECT_EQ(calls.newest->ranking[3], 3);
}

TEST(ArrivalProfiles, AreThereWhenPersistentCallsStart) {
  // Ranks send the estimate for a call after its start. Every 8 calls another rank is late.
  Table table(4);
  for (CallNumber call = 1; call <= 100; ++call) {
    for (Rank rank = 0; rank < 4; ++rank) table.profile(rank, call);
    for (Rank rank = 0; rank < 4; ++rank) {
      const double delay = rank == static_cast<Rank>(call / 8 % 4) ? 1.0 : 0.0;
      const double arrival = static_cast<double>(call) + delay;
      table.tell(rank, {call, arrival, 1e-4, Collective::gather, false});
    }
  }
  EXPECT_LE(table.questions(), 4) << "ranks wait for an answer in the first call only";
  EXPECT_GT(table.profile(0, 100)->number, 4);
}

TEST(ArrivalProfiles, NeedAnEstimateAndAKnownErrorOfEachRank) {
  Table table(2);
  EXPECT_EQ(table.profile(0, 1), nullptr);
  for (CallNumber call = 2; call < 40; ++call) {
    table.tell(0, {call, 1.0, 1e-4, Collective::gather, false});
    EXPECT_EQ(table.profile(0, call), nullptr);  // no estimate of rank 1
  }
  for (CallNumber call = 40; call < 80; ++call) {
    table.tell(0, {call, 1.0, 1e-4, Collective::gather, false});
    table.tell(1, {call, 2.0, std::nan(""), Collective::gather, false});
    EXPECT_EQ(table.profile(0, call), nullptr);
  }
  for (CallNumber call = 80; call < 83; ++call) {
    table.tell(0, {call, 1.0, 1e-4, Collective::gather, false});
    table.tell(1, {call, 2.0, 1e-4, Collective::gather, false});
  }
  EXPECT_NE(table.profile(0, 82 + 16 + 33), nullptr);
}

}  // namespace
}  // namespace tutti
