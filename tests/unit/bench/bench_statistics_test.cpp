/// Quantiles and intervals against numbers that can be worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "bench/statistics.hpp"

namespace tutti::bench {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(BenchStatistics, QuantilesLieLinearlyBetweenSamples) {
  // Place of q among n = 5 samples: 4 q, counted from 0.
  const std::vector<double> samples = {10, 20, 30, 40, 100};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 30);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 76);  // 3.6: 40 + 0.6 * 60
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 100);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.99), 7);
}

TEST(BenchStatistics, SummaryTakesSamplesInAnySequence) {
  const Summary summary = summarize({3, 1, 2, 10});
  EXPECT_EQ(summary.count, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 4);
  EXPECT_DOUBLE_EQ(summary.least, 1);
  EXPECT_DOUBLE_EQ(summary.median, 2.5);
  EXPECT_DOUBLE_EQ(summary.most, 10);
}

TEST(BenchStatistics, MedianIntervalIsTheTabledOne) {
  // n = 10: P(B <= 1) = 11 / 1024 = 0.0107 <= 0.025 < P(B <= 2) = 56 / 1024, so k = 2.
  const Interval ten = median_interval(one_to(10), 0.95);
  EXPECT_DOUBLE_EQ(ten.low, 2);
  EXPECT_DOUBLE_EQ(ten.high, 9);
  // n = 75 at 95 %: the 29th and the 47th (P(B <= 28) = 0.0185, P(B <= 29) = 0.0319).
  const Interval seventy_five = median_interval(one_to(75), 0.95);
  EXPECT_DOUBLE_EQ(seventy_five.low, 29);
  EXPECT_DOUBLE_EQ(seventy_five.high, 47);
}

TEST(BenchStatistics, TooFewSamplesGiveNoInterval) {
  // n = 5: even minimum and maximum leave 2 / 32 = 6.25 % outside.
  EXPECT_TRUE(std::isinf(median_interval(one_to(5), 0.95).high));
  EXPECT_FALSE(std::isinf(median_interval(one_to(6), 0.95).high));  // 2 / 64
  const Ratio ratio = ratio_of_medians(one_to(3), one_to(3));
  EXPECT_DOUBLE_EQ(ratio.value, 1);
  EXPECT_FALSE(ratio.below_one());
  EXPECT_FALSE(ratio.above_one());
}

TEST(BenchStatistics, LongRunsDoNotUnderflow) {
  // 2^-2000 is no double; the normal approximation puts k near 1000 - 1.96 * sqrt(500).
  const Interval interval = median_interval(one_to(2000), 0.95);
  EXPECT_NEAR(interval.low, 956, 1);
  EXPECT_NEAR(interval.high, 1045, 1);
}

TEST(BenchStatistics, RatioTellsFasterFromSlowerFromEven) {
  std::vector<double> twice;
  for (const double sample : one_to(75)) twice.push_back(2 * (sample + 1000));
  std::vector<double> once;
  for (const double sample : one_to(75)) once.push_back(sample + 1000);
  const Ratio slower = ratio_of_medians(twice, once);
  EXPECT_DOUBLE_EQ(slower.value, 2);
  EXPECT_TRUE(slower.above_one());
  EXPECT_TRUE(ratio_of_medians(once, twice).below_one());
  const Ratio even = ratio_of_medians(once, once);
  EXPECT_FALSE(even.above_one() || even.below_one());
}

TEST(BenchStatistics, IntervalHoldsTheTrueRatioAsOftenAsItSays) {
  // Both medians are ln 2 times the mean, so the true ratio is 1; at least 95 % of 400 runs.
  std::mt19937_64 random(7);
  std::exponential_distribution<double> exponential;
  int held = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<double> a(40);
    std::vector<double> b(40);
    for (double& sample : a) sample = exponential(random);
    for (double& sample : b) sample = exponential(random);
    const Ratio ratio = ratio_of_medians(a, b);
    held += ratio.above_one() || ratio.below_one() ? 0 : 1;
  }
  EXPECT_GE(held, 380);
}

}  // namespace
}  // namespace tutti::bench
