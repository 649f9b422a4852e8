/// Every collective keeps its contract through node memory, on every small shape of nodes.
#include <gtest/gtest.h>

#include "sweep/sweep.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr int max_p = 3;
#else
constexpr int max_p = 5;
#endif

class EveryCollectiveOnNodes : public testing::TestWithParam<Collective> {};

TEST_P(EveryCollectiveOnNodes, KeepsItsContract) {
  const SweepResult result = sweep_hierarchical(GetParam(), max_p);
  EXPECT_GT(result.cases, 100);
  for (const FailedCase& failure : result.failures) ADD_FAILURE() << failure.text;
}

INSTANTIATE_TEST_SUITE_P(Sweep, EveryCollectiveOnNodes, testing::ValuesIn(hierarchical_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
