#include "select/agreement_time.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

TEST(AgreementTime, WaitsLessAndLessOften) {
  AgreementTime time;
  std::vector<int> waited;
  for (int i = 1; i <= 100; ++i) {
    if (time.begin()) waited.push_back(i);
  }
  EXPECT_EQ(waited, (std::vector{1, 2, 4, 8, 16, 32, 64}));
}

TEST(AgreementTime, IsTheLesserOfTheLatestTwo) {
  AgreementTime time;
  EXPECT_EQ(time.expected(), 0);
  time.add(5'000'000);  // sets up connections
  EXPECT_EQ(time.expected(), 5'000'000);
  time.add(120'000);
  EXPECT_EQ(time.expected(), 120'000);
  time.add(900'000);  // a rank was late
  EXPECT_EQ(time.expected(), 120'000);
  time.add(800'000);  // the network has become slower
  EXPECT_EQ(time.expected(), 800'000);
}

}  // namespace
}  // namespace tutti
