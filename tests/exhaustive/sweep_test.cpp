/// Every algorithm of the list keeps its contract, everywhere.
#include "sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <future>

namespace tutti {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr int max_p = 9;  // the same space, cut where instrumented code takes minutes
constexpr int sampled_max_p = 34;
#else
constexpr int max_p = 33;
constexpr int sampled_max_p = 1024;
#endif

SweepResult sweep_in_threads(SweepOptions options) {
  options.parts = 2;
  SweepOptions other = options;
  other.part = 1;
  auto others = std::async(std::launch::async, [&] { return sweep(other); });
  SweepResult result = sweep(options);
  result.add(others.get());
  return result;
}

class EveryCollective : public testing::TestWithParam<Collective> {};

TEST_P(EveryCollective, KeepsItsContractWithEveryAlgorithm) {
  SweepOptions options;
  options.collective = GetParam();
  options.max_p = max_p;
  options.sampled_max_p = sampled_max_p;
  const SweepResult result = sweep_in_threads(options);
  EXPECT_GT(result.cases, has_root(GetParam()) ? 5000 : 500);
  for (const std::string& failure : result.failures) ADD_FAILURE() << failure;
}

INSTANTIATE_TEST_SUITE_P(Sweep, EveryCollective, testing::ValuesIn(all_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
