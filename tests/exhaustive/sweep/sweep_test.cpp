/// Every algorithm of the list keeps its contract, everywhere.
#include "sweep/sweep.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>

namespace tutti {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr bool is_fast = false;  // instrumented code takes minutes
#else
constexpr bool is_fast = true;
#endif

/// The numbers of ranks: all up to the first, some up to the second. ./test --all goes further.
struct Ranks {
  int all;
  int sampled;
};
Ranks ranks() {
  const bool further = std::getenv("ALL_TESTS") != nullptr;
  if (!is_fast) return further ? Ranks{9, 34} : Ranks{5, 5};
  return further ? Ranks{33, 1024} : Ranks{9, 65};
}

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
  options.max_p = ranks().all;
  options.sampled_max_p = ranks().sampled;
  const SweepResult result = sweep_in_threads(options);
  EXPECT_GT(result.cases, has_root(GetParam()) ? 1000 : 100);
  EXPECT_GE(result.programs, result.cases);
  for (const FailedCase& failure : result.failures) ADD_FAILURE() << failure.text;
}

INSTANTIATE_TEST_SUITE_P(Sweep, EveryCollective, testing::ValuesIn(all_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
