/// The cases that a sweep reports as failed.
#include <gtest/gtest.h>

#include "sweep/sweep.hpp"

namespace tutti {
namespace {

TEST(SweepResult, KeepsTheSmallestFailuresAndCountsAll) {
  SweepResult large;
  for (int p = 40; p > 0; --p) large.refuse({p, 10, std::to_string(p)});
  SweepResult small;
  small.cases = 5;
  small.refuse({3, 1, "few bytes"});
  large.add(small);
  EXPECT_EQ(large.cases, 5);
  EXPECT_EQ(large.failed, 41);
  ASSERT_EQ(large.failures.size(), SweepResult::max_failures);
  EXPECT_EQ(large.failures[0].text, "1");
  EXPECT_EQ(large.failures[2].text, "few bytes");
  EXPECT_EQ(large.failures[3].text, "3");
}

}  // namespace
}  // namespace tutti
