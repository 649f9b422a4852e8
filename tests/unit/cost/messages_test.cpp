/// Messages get the first round in which both their ranks are free.
#include <gtest/gtest.h>

#include "algorithms/problems.hpp"
#include "cost/simulate.hpp"

namespace tutti {
namespace {

std::vector<Schedule> schedules_of(Collective collective, const std::string& algorithm,
                                   const std::vector<Bytes>& sizes, Rank root) {
  const Result<Specification> spec = specification(collective, algorithm);
  EXPECT_TRUE(spec) << algorithm;
  return Problems(*spec, Call{collective, root, sizes, 10000}).schedules();
}

const std::vector<Bytes> figure_sizes = {1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5};

TEST(Messages, BinomialTakesThreeRoundsOfEightRanks) {
  const auto all =
      messages(schedules_of(Collective::gather, "binomial", std::vector<Bytes>(8, 1), 0));
  ASSERT_TRUE(all) << all.error();
  std::string text;
  for (const Message& message : *all) {
    text += std::to_string(message.round) + ":" + std::to_string(message.from) + ">" +
            std::to_string(message.to) + ":" + std::to_string(message.bytes) + " ";
  }
  EXPECT_EQ(text, "1:1>0:1 1:3>2:1 1:5>4:1 1:7>6:1 2:2>0:2 2:6>4:2 3:4>0:4 ");
}

TEST(Messages, NoRankTakesPartInTwoOfARound) {
  for (const Algorithm& algorithm : all_algorithms()) {
    const bool irregular = is_irregular(algorithm.collective);
    const auto sizes = irregular ? figure_sizes : std::vector<Bytes>(11, 3);
    const auto all =
        messages(schedules_of(algorithm.collective, std::string(algorithm.name), sizes, 4));
    ASSERT_TRUE(all) << algorithm.name << ": " << all.error();
    std::vector<int> last(22, 0);  // of each rank's port, or ports
    const int receives = has_two_ports(algorithm.collective) ? 11 : 0;
    for (const Message& message : *all) {
      for (const int port : {message.from, message.to + receives}) {
        EXPECT_GT(message.round, last[static_cast<std::size_t>(port)]) << algorithm.name;
        last[static_cast<std::size_t>(port)] = message.round;
      }
    }
  }
}

TEST(Messages, NamesAStepWithoutPartner) {
  auto schedules = schedules_of(Collective::gather, "linear", {1, 1}, 0);
  schedules[1].steps.clear();
  const auto all = messages(schedules);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), "rank 0, step 0 (recv from 1) has no partner");
}

TEST(Messages, NamesAStepThatWaitsForALaterOne) {
  auto schedules = schedules_of(Collective::gather, "linear", {1, 1}, 0);
  Step wait;
  wait.kind = StepKind::wait;
  wait.first = 1;
  wait.last = 2;
  schedules[0].steps.insert(schedules[0].steps.begin(), wait);
  const auto all = messages(schedules);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), "rank 0, step 1 (recv from 1): deadlock: it waits for it");
}

}  // namespace
}  // namespace tutti
