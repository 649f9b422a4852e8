/// Arrival profiles change only when the pattern of arrivals does.
#include <gtest/gtest.h>

#include <random>

#include "protocols/arrival_predictors.hpp"

namespace tutti {
namespace {

TEST(ProfilePredictor, KeepsTheProfileIfOtherRanksAreLateEachTime) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 0.05);
  ProfilePredictor predictor;
  int changes = 0;
  for (int call = 0; call < 500; ++call) {
    std::vector<double> arrivals(16);
    for (double& arrival : arrivals) arrival = uniform(random);
    changes += predictor.take(arrivals, 1e-4) ? 1 : 0;
  }
  EXPECT_LE(changes, 5);
}

TEST(ProfilePredictor, IgnoresAnOutlierAndFollowsALastingChange) {
  ProfilePredictor predictor;
  const std::vector<double> usual = {0, 0.01, 0, 0};
  for (int call = 1; call <= 3; ++call) EXPECT_EQ(predictor.take(usual, 1e-4), call == 3);
  for (int call = 0; call < 5; ++call) EXPECT_FALSE(predictor.take(usual, 1e-4));
  EXPECT_FALSE(predictor.take({0.3, 0, 0, 0}, 1e-4));
  for (int call = 0; call < 5; ++call) EXPECT_FALSE(predictor.take(usual, 1e-4));
  EXPECT_EQ(predictor.profile().delays, usual);
  int calls = 0;
  while (!predictor.take({0, 0, 0.01, 0}, 1e-4)) ASSERT_LT(++calls, 4);
  EXPECT_EQ(predictor.profile().delays, (std::vector<double>{0, 0, 0.01, 0}));
}

TEST(ProfilePredictor, IgnoresDifferencesWithinTheError) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0, 1e-3);
  ProfilePredictor predictor;
  int changes = 0;
  for (int call = 0; call < 500; ++call) {
    std::vector<double> arrivals(8);
    for (double& arrival : arrivals) arrival = uniform(random);
    changes += predictor.take(arrivals, 0.5e-3 + uniform(random)) ? 1 : 0;
  }
  EXPECT_EQ(changes, 1);
}

// Hysteresis: ranks that arrived together do so up to 3 times the error, others up to twice it.
TEST(ProfilePredictor, TakesTwoOrThreeTimesTheErrorByWhatWasBefore) {
  ProfilePredictor predictor;
  constexpr double error = 1e-3;
  const auto changes = [&](double last) {
    bool has_changed = false;
    for (int call = 0; call < 8; ++call) {
      has_changed = predictor.take({0, 0, last}, error) || has_changed;
    }
    return has_changed;
  };
  EXPECT_TRUE(changes(0));
  EXPECT_FALSE(changes(2.9 * error));
  EXPECT_TRUE(changes(3.1 * error));
  EXPECT_FALSE(changes(2.5 * error));
  EXPECT_TRUE(changes(1.9 * error));
}

}  // namespace
}  // namespace tutti
