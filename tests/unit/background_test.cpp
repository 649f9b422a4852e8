/// Which steps the background thread takes.
#include "passes/background.hpp"

#include <gtest/gtest.h>

#include "call_helpers.hpp"

namespace tutti {
namespace {

std::string background_steps(const char* algorithm, Collective collective, Rank rank) {
  const Call call{collective, 0, std::vector<Bytes>(8, 4), 0};
  const Schedule schedule =
      in_background(testing_support::schedules_of(algorithm, call)[static_cast<std::size_t>(rank)]);
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

}  // namespace
}  // namespace tutti
