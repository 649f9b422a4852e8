/// Planted faults of reductions, exchanges of pairs and barriers.
#include <algorithm>

#include "unit/sweep/planted_in_schedules.hpp"

namespace tutti {
namespace {

using PlantedIn = testing_support::PlantedInSchedules;

// A linear reduce of 3 ranks to rank 1:
//     rank 1    0 recv 0 staged   1 reduce 0 after 0 left    2 recv 2 staged    3 reduce 2 after 2
//     right
TEST_F(PlantedIn, ContributionThatIsNeverCombined) {
  reset(Collective::reduce, "linear", 3, 4, 1);
  steps(1).pop_back();
  expect(1, -1, "lacks the contribution of rank 2 in byte 0 of block 0 at the end");
}

TEST_F(PlantedIn, ContributionThatIsCombinedTwice) {
  reset(Collective::reduce, "linear", 3, 4, 1);
  steps(1).push_back(step(1, 3));
  expect(1, 4, "combines the contribution of rank 2 twice");
}

TEST_F(PlantedIn, OperandsOutOfTheSequenceOfRanks) {
  reset(Collective::reduce, "linear", 3, 4, 1);
  step(1, 3).operand = Operand::left;
  expect(1, 3, "before that of rank 0, and the operation does not commute");
}

TEST_F(PlantedIn, NeighboursLeftOutBetweenOperands) {
  // Rank 2 combines 0 first: 0 op 2, and where would 1 go?
  reset(Collective::reduce, "linear", 3, 4, 2);
  std::swap(step(2, 0), step(2, 2));
  std::swap(step(2, 1), step(2, 3));
  step(2, 1).after = 0;
  step(2, 3).after = 2;
  expect(2, 3, "puts the contribution of rank 1 before that of rank 0");
}

TEST_F(PlantedIn, AnyOrderDoesForWhatCommutes) {
  reset(Collective::reduce, "binomial", 6, 4);
  for (Rank rank = 0; rank < 6; ++rank) {
    for (Step& step : steps(rank)) step.operand = Operand::left;
  }
  expect_none();
}

TEST_F(PlantedIn, ReduceWithoutItsReceive) {
  reset(Collective::reduce, "linear", 3, 4, 1);
  step(1, 3).after = 0;
  expect(1, 3, "combines the contribution of rank 0 twice");
}

TEST_F(PlantedIn, SendBeforeTheCombination) {
  // Rank 2 of a binomial reduce passes on its own contribution only.
  reset(Collective::reduce, "binomial", 4, 4);
  ASSERT_EQ(steps(2).size(), 3U);
  const Step send = step(2, 2);
  steps(2).erase(steps(2).begin() + 2);
  steps(2).insert(steps(2).begin(), send);
  step(2, 2).after = 1;
  expect(0, -1, "lacks the contribution of rank 3 in byte 0 of block 0 at the end");
}

TEST_F(PlantedIn, PartOfABlock) {
  reset(Collective::allreduce, "recursive_doubling", 2, 4);
  for (Rank rank = 0; rank < 2; ++rank) {
    for (Step& step : steps(rank)) step.bytes = 2;
  }
  expect(1, 2, "uses bytes 0 to 4 of staging memory, which has 2");
}

TEST_F(PlantedIn, OtherNumberOfParts) {
  reset(Collective::allreduce, "ring", 3, 6);
  schedules_[2].parts = 2;
  expect(0, 2, "combines byte 0 of block 1 with byte 1 of block 1");
}

TEST_F(PlantedIn, ResultThatIsReplacedByAnOlderOne) {
  // The last step of rank 1 receives the result; let it receive what rank 0 had at first.
  reset(Collective::allreduce, "reduce_bcast", 2, 4);
  const Step send = steps(0).back();
  steps(0).pop_back();
  steps(0).insert(steps(0).begin(), send);
  step(0, 2).after = 1;
  expect(1, -1, "lacks the contribution of rank 1 in byte 0 of block 0 at the end");
}

// The chain of an exscan:
//     rank 1    0 recv 0 staged    1 reduce 0 after 0 left    2 send 2    3 reduce 0 after 0 only
TEST_F(PlantedIn, OwnContributionInAnExscan) {
  reset(Collective::exscan, "linear", 3, 4);
  steps(1).pop_back();
  expect(1, -1, "has the contribution of rank 1 too in byte 0 of block 0 at the end");
}

TEST_F(PlantedIn, ContributionThatAChainReplaces) {
  reset(Collective::exscan, "linear", 3, 4);
  step(1, 1).operand = Operand::only;
  expect(2, -1, "lacks the contribution of rank 1 in byte 0 of block 0 at the end");
}

TEST_F(PlantedIn, CombinationInTheBackground) {
  reset(Collective::reduce, "linear", 3, 4, 1);
  step(1, 0).runner = Runner::background;
  expect_none();
  step(1, 1).runner = Runner::background;
  expect_none();  // the caller combines
}

TEST_F(PlantedIn, ExchangeThatReplacesWhatItHas) {
  // Each rank receives into its result, and combines nothing.
  reset(Collective::allreduce, "recursive_doubling", 2, 4);
  for (Rank rank = 0; rank < 2; ++rank) {
    Step& receive = step(rank, 1);
    receive.staged = false;
    steps(rank).pop_back();
  }
  expect(0, -1, "lacks the contribution of rank 0 in byte 0 of block 0 at the end");
}

TEST_F(PlantedIn, BlockOfAnotherPair) {
  reset(Collective::alltoall, "linear", 3, 2);
  // Rank 0 sends rank 1 what is for rank 2, and rank 1 takes it.
  for (Step* step : {&step(0, 1), &step(1, 0)}) {
    ASSERT_EQ(step->blocks.range, (BlockRange{1, 2}));
    step->blocks.range = {2, 3};
  }
  expect(1, -1, "lacks byte 0 of block 1 at the end");
}

TEST_F(PlantedIn, BarrierThatLeavesTooEarly) {
  reset(Collective::barrier, "dissemination", 4, 0);
  // If it waits for nothing rank 0 tells rank 2 before it has heard of rank 3.
  const auto wait = std::find_if(steps(0).begin(), steps(0).end(),
                                 [](const Step& step) { return step.kind == StepKind::wait; });
  ASSERT_NE(wait, steps(0).end());
  wait->last = wait->first;
  const std::string text = fault();
  EXPECT_NE(text.find("leaves though rank 3 may not have entered"), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("rank 2 ")) << text;
}

TEST_F(PlantedIn, BarrierWithData) {
  reset(Collective::barrier, "linear", 3, 0);
  step(1, 0).bytes = 1;
  expect(1, 0, "uses bytes 0 to 1 of staging memory, which has 0");
}

}  // namespace
}  // namespace tutti
