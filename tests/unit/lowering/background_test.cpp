/// Which steps the background thread takes.
#include "lowering/background.hpp"

#include <gtest/gtest.h>

#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

std::string background_steps(const char* algorithm, Collective collective, Rank rank) {
  const Call call{collective, 0, std::vector<Bytes>(8, 4), 0};
  const auto schedules = testing_support::schedules_of(algorithm, call);
  // Rotated orders from rank 0 on: positions are ranks.
  const Schedule schedule = in_background(schedules[static_cast<std::size_t>(rank)], rank);
  std::string kinds;
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::wait) continue;
    kinds += step.runner == Runner::background ? 'b' : 'c';
  }
  return kinds;
}

TEST(Background, TakesAllBelowTheRootOfAScatter) {
  EXPECT_EQ(background_steps("linear", Collective::scatter, 3), "b");      // BSLN
  EXPECT_EQ(background_steps("binomial", Collective::scatter, 4), "bbb");  // BSBN: recv, forward
  EXPECT_EQ(background_steps("binomial", Collective::scatter, 0), "ccc");
}

TEST(Background, TakesTheWholeRootLoopOfAGather) {
  EXPECT_EQ(background_steps("linear_sync:segment=2", Collective::gather, 0),
            "bbbbbbbbbbbbbbbbbbbbb");  // 7 times: first segment, signal, second segment
  EXPECT_EQ(background_steps("linear_sync:segment=2", Collective::gather, 3), "ccc");
}

TEST(Background, TakesTheReceivesBelowTheRootOfAGather) {
  EXPECT_EQ(background_steps("binomial", Collective::gather, 4), "bbc");  // sends its own block
  EXPECT_EQ(background_steps("binomial", Collective::gather, 0), "bbb");
}

TEST(Background, TakesAllOfABroadcastBelowTheRootButItsRequest) {
  EXPECT_EQ(background_steps("binomial", Collective::bcast, 4), "bbb");
  EXPECT_EQ(background_steps("binomial", Collective::bcast, 0), "ccc");
  EXPECT_EQ(background_steps("linear_pull", Collective::bcast, 4), "cb");
}

TEST(Background, TakesOfAnAllgatherWhatTheRankDoesNotBring) {
  // Seven times send and receive, or receive and send; of a ring only the first send is the rank's
  // own block (BDR), of direct exchanges every one.
  EXPECT_EQ(background_steps("ring", Collective::allgather, 4), "cbbbbbbbbbbbbb");
  EXPECT_EQ(background_steps("linear", Collective::allgather, 4), "bcbcbcbcbcbcbc");
}

}  // namespace
}  // namespace tutti
