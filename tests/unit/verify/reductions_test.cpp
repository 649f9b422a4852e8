/// Planted faults in the programs of reductions are caught, and named.
#include <gtest/gtest.h>

#include "lowering/lower.hpp"
#include "schedule/builder.hpp"
#include "unit/verify/planted_in_programs.hpp"

namespace tutti {
namespace {

using testing_support::PlantedInPrograms;
using PlantedInReductions = PlantedInPrograms;
using namespace testing_support::buffers;

TEST_F(PlantedInReductions, ResultsOfAReductionWrittenBeforeArrival) {
  reset(Collective::allreduce, "reduce_bcast", 3);
  const int recv = find(2, OperationKind::recv);
  ASSERT_EQ(operation(2, recv).to.area, Area::receive);
  operation(2, recv).runner = Runner::background;
  operation(2, recv).first_need = operation(2, recv).last_need = 0;
  expect(2, recv, "may write results before the rank arrives");
}

TEST_F(PlantedInReductions, OperandsInTheWrongOrder) {
  reset(Collective::reduce, "linear", 3);
  const int reduce = find(0, OperationKind::reduce);
  std::swap(operation(0, reduce).from, operation(0, reduce).to);
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->rank, 0) << fault->text;
}

TEST_F(PlantedInReductions, ContributionCombinedTwiceOrNever) {
  reset(Collective::allreduce, "ring", 3);
  const int reduce = find(1, OperationKind::reduce);
  Operation again = operation(1, reduce);
  again.first_need = static_cast<int>(program(1).needs.size());
  program(1).needs.push_back(reduce);
  again.last_need = static_cast<int>(program(1).needs.size());
  program(1).operations.insert(program(1).operations.begin() + reduce + 1, again);
  for (Operation& later : program(1).operations) {
    if (later.kind != OperationKind::wait) continue;
    if (later.first > reduce) ++later.first;
    if (later.last > reduce) ++later.last;
  }
  for (int& need : program(1).needs)
    need += need >= reduce && &need != &program(1).needs.back() ? 1 : 0;
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->text.find("twice"), std::string::npos) << fault->text;

  reset(Collective::allreduce, "ring", 3);
  operation(1, find(1, OperationKind::reduce)).kind = OperationKind::copy;
  const auto missing = made_->check(verifier_, 1);
  ASSERT_TRUE(missing);
  EXPECT_NE(missing->text.find("lacks the contribution of rank"), std::string::npos)
      << missing->text;
}

// Rank 1 leaves the vector of rank 0, its whole result, in staging memory.
TEST_F(PlantedInReductions, OwnContributionThatStaysInPlace) {
  reset(Collective::exscan, "linear", 2, in_place);
  ASSERT_EQ(program(1).operations.back().kind, OperationKind::copy);
  program(1).operations.pop_back();
  expect(1, -1, "lacks the contribution of rank 0 in byte 0 of block 0 at the end");
}

// Each rank gets all vectors and combines lower ranks from the left, then higher ones: (0 1) 2 on
// ranks 0 and 1, 0 (1 2) on rank 2. Sums of floating-point numbers differ in bits.
TEST(Allreduce, ThatCombinesInAnotherSequenceOnOneRank) {
  const Specification spec = testing_support::spec_of(Collective::allreduce, "reduce_bcast");
  const Call call = {Collective::allreduce, 0, std::vector<Bytes>(3, 2), 0};
  const Problems problems(spec, call);
  std::vector<Schedule> schedules;
  for (Rank me = 0; me < 3; ++me) {
    const Problem problem = problems.at(me);
    ScheduleBuilder schedule(problem);
    std::vector<StepId> received(3, ScheduleBuilder::none);
    for (Rank other = 0; other < 3; ++other) {
      if (other != me) schedule.send(other, {0, 1});
    }
    for (Rank other = 0; other < 3; ++other) {
      if (other != me) received[index(other)] = schedule.recv_staged(other, BlockRange{0, 1});
    }
    for (Rank lower = me - 1; lower >= 0; --lower) {
      schedule.combine(received[index(lower)], Operand::left);
    }
    for (Rank higher = me + 1; higher < 3; ++higher) {
      schedule.combine(received[index(higher)], Operand::right);
    }
    schedules.push_back(schedule.done());
  }
  const Programs made(spec, call, problems, schedules, contiguous);
  ProgramVerifier verifier;
  const auto fault = made.check(verifier, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->text, "rank 2 combines in another sequence than rank 0: their bits may differ");
}

// Rank 0 combines 0 with 1, rank 1 combines 1 with 0. Operations that commute may do so in other
// bits, e.g. of NaNs.
TEST(Allreduce, ThatSwapsOperandsOnOneRank) {
  Algorithm commuting =
      *testing_support::spec_of(Collective::allreduce, "recursive_doubling").algorithm;
  commuting.commutative = true;
  Specification spec;
  spec.algorithm = &commuting;
  const Call call = {Collective::allreduce, 0, std::vector<Bytes>(2, 2), 0};
  const Problems problems(spec, call);
  const Programs made(spec, call, problems, problems.schedules(), contiguous);
  ProgramVerifier verifier;
  const auto fault = made.check(verifier, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->text, "rank 1 combines in another sequence than rank 0: their bits may differ");
}

// Rank 1 of an exscan's chain combines what it has received twice. In each case the operation
// commutes, so that either side is right.
TEST(StagedBlocks, MayBeCombinedAgain) {
  Algorithm commuting = *testing_support::spec_of(Collective::exscan, "linear").algorithm;
  commuting.commutative = true;
  Specification spec;
  spec.algorithm = &commuting;
  const Call call = {Collective::exscan, 0, std::vector<Bytes>(4, 6), 0};
  const Problems problems(spec, call);
  ProgramVerifier verifier;
  for (const Operand operand : {Operand::left, Operand::right}) {
    std::vector<Schedule> schedules = problems.schedules();
    schedules[1].steps[1].operand = operand;
    for (int kind = 0; kind < buffer_kinds; ++kind) {
      Programs made(spec, call, problems, schedules, kind);
      for (const bool swaps : {true, false}) {
        BufferTraits& traits = made.layouts[1].traits;
        traits.swaps = swaps;
        made.programs[1] = lower(schedules[1], problems.at(1), 6, traits);
        const auto fault = made.check(verifier, 1);
        EXPECT_FALSE(fault) << fault->text;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
