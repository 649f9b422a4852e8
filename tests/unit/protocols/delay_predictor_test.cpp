/// Predicted delays of ranks, and the errors of their forecasts.
#include <gtest/gtest.h>

#include <cmath>

#include "protocols/arrival_predictors.hpp"

namespace tutti {
namespace {

TEST(DelayPredictor, WeighsTheLatestCallBy50Percent) {
  const double nothing = std::nan("");
  DelayPredictor predictor(3);
  EXPECT_FALSE(predictor.take(std::vector{nothing, nothing, nothing}));
  EXPECT_TRUE(predictor.take(std::vector{5.0, 9.0, nothing}));
  EXPECT_EQ(predictor.delays()[1], 4.0);
  EXPECT_TRUE(std::isnan(predictor.delays()[2]));
  EXPECT_TRUE(predictor.take(std::vector{nothing, 3.0, 1.0}));
  EXPECT_EQ(predictor.delays(), (std::vector{0.0, 3.0, 0.0}));
}

TEST(DelayPredictor, LearnsNothingFromASingleKnownRank) {
  const double nothing = std::nan("");
  DelayPredictor predictor(3);
  EXPECT_TRUE(predictor.take(std::vector{0.0, 8.0, 0.0}));
  EXPECT_FALSE(predictor.take(std::vector{nothing, 100.0, nothing}));
  EXPECT_EQ(predictor.delays(), (std::vector{0.0, 8.0, 0.0}));
}

TEST(ForecastError, ChangesLittleByOneCallAndFollowsALastingChange) {
  ForecastError error;
  EXPECT_TRUE(std::isnan(error.mean()));
  for (int call = 0; call < 20; ++call) error.add(1e-3);
  EXPECT_DOUBLE_EQ(error.mean(), 1e-3);
  error.add(1.0);
  EXPECT_NEAR(error.mean(), 1.5e-3, 1e-6);
  for (int call = 0; call < 30; ++call) error.add(1.0);
  EXPECT_NEAR(error.mean(), 1.0, 1e-2);
}

}  // namespace
}  // namespace tutti
