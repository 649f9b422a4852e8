/// Planted faults of each kind are caught, and named by rank, step and block.
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <random>

#include "sweep/check.hpp"
#include "sweep/sweep.hpp"
#include "unit/call_helpers.hpp"
#include "unit/fault_helpers.hpp"

namespace tutti {
namespace {

/// A gather of 4 ranks with 2 bytes each along the binomial tree, natural order:
///     rank 0    0 recv 1 [1,2) 2     1 recv 2 [2,4) 4
///     rank 1    0 send 0 [1,2) 2
///     rank 2    0 recv 3 [3,4) 2     1 send 0 [2,4) 4
///     rank 3    0 send 2 [3,4) 2
class Planted : public testing::Test {
 protected:
  Planted() { reset("binomial:order=natural"); }

  void reset(const char* algorithm, Collective collective = Collective::gatherv) {
    call_ = {collective, 0, {2, 2, 2, 2}, 0};
    const Problems problems(testing_support::spec_of(collective, algorithm), call_);
    schedules_ = problems.schedules();
    order_ = problems.order();
    ASSERT_FALSE(check());
  }

  std::optional<Fault> check() const {
    return verify({call_.collective, call_.p(), call_.root}, order_, call_.sizes, schedules_);
  }

  /// The fault must be at this place, and its text must name the place and say this.
  void expect(Rank rank, StepId step, Rank block, const std::string& says) const {
    const auto fault = check();
    testing_support::expect_fault(fault, rank, step, block, says);
    if (!fault) return;
    EXPECT_NE(fault->text.find("rank " + std::to_string(rank)), std::string::npos) << fault->text;
    if (step >= 0) {
      EXPECT_NE(fault->text.find("step " + std::to_string(step)), std::string::npos) << fault->text;
    }
    if (block >= 0) {
      EXPECT_NE(fault->text.find("block " + std::to_string(block)), std::string::npos)
          << fault->text;
    }
  }

  std::vector<Step>& steps(Rank rank) { return schedules_[static_cast<std::size_t>(rank)].steps; }
  Step& step(Rank rank, StepId step) { return steps(rank)[static_cast<std::size_t>(step)]; }
  void erase(Rank rank, StepId step) { steps(rank).erase(steps(rank).begin() + step); }
  void insert(Rank rank, StepId before, const Step& step) {
    steps(rank).insert(steps(rank).begin() + before, step);
  }
  static Step wait(StepId first, StepId last) {
    Step wait;
    wait.kind = StepKind::wait;
    wait.first = first;
    wait.last = last;
    return wait;
  }
  static Step message(StepKind kind, Rank peer, BlockRange blocks, Bytes bytes) {
    Step step;
    step.kind = kind;
    step.peer = peer;
    step.blocks = blocks;
    step.bytes = bytes;
    return step;
  }

  Call call_;
  Order order_ = Order::identity(1);
  std::vector<Schedule> schedules_;
};

TEST_F(Planted, ReceiveLeftOut) {
  erase(0, 0);
  expect(1, 0, 1, "rank 0 has no matching receive");
}

TEST_F(Planted, SendLeftOut) {
  erase(1, 0);
  expect(0, 0, 1, "rank 1 has no matching send");
}

TEST_F(Planted, MessageLeftOutAtBothEnds) {
  erase(0, 0);
  erase(1, 0);
  expect(0, -1, 1, "byte 0 of the block never reaches the rank");
}

TEST_F(Planted, HalfABlockLeftOutAtBothEnds) {
  step(0, 0).bytes = step(1, 0).bytes = 1;
  expect(0, -1, 1, "byte 1 of the block never reaches the rank");
}

TEST_F(Planted, SwappedPeer) {
  step(1, 0).peer = 2;
  expect(0, 0, 1, "rank 1 has no matching send");
}

TEST_F(Planted, OtherSizeAtOneEnd) {
  step(0, 1).bytes = 3;
  expect(2, 1, 3, "sends 4 bytes, but rank 0 expects 3 in its step 1");
}

TEST_F(Planted, OtherBlocksAtOneEnd) {
  step(0, 0).blocks.range = {2, 3};
  expect(1, 0, 1, "sends other bytes than rank 0 expects in its step 0");
}

TEST_F(Planted, OtherSegmentAtOneEnd) {
  step(0, 1).offset = 1;
  step(0, 1).bytes = step(2, 1).bytes = 3;
  expect(2, 1, 2, "sends other bytes than rank 0 expects");
}

TEST_F(Planted, HoleAtOneEnd) {
  step(2, 1).blocks.holes = {{3, 4}};
  step(2, 1).bytes = 2;
  expect(2, 1, 3, "sends 2 bytes, but rank 0 expects 4");
}

TEST_F(Planted, MoreBytesThanTheBlocksHave) {
  step(0, 1).bytes = step(2, 1).bytes = 5;
  expect(0, 1, 2, "its bytes 0 to 5 are more than its blocks have");
}

TEST_F(Planted, BlockReceivedTwice) {
  insert(0, 1, message(StepKind::recv, 1, {1, 2}, 2));
  insert(1, 1, message(StepKind::send, 0, {1, 2}, 2));
  expect(0, 1, 1, "receives what step 0 has received");
}

TEST_F(Planted, ReceivesThatOverlapByOneByte) {
  // 1 also sends what it does not have, but the overlap at 0 comes first.
  step(0, 0).blocks.range.end = step(1, 0).blocks.range.end = 3;
  step(0, 0).bytes = step(1, 0).bytes = 3;
  expect(0, 1, 2, "receives what step 0 has received");
}

TEST_F(Planted, ReceiveOfWhatIsThere) {
  insert(0, 0, message(StepKind::recv, 1, {0, 1}, 2));
  insert(1, 0, message(StepKind::send, 0, {0, 1}, 2));
  expect(0, 0, 0, "receives what the rank holds from the start");
}

TEST_F(Planted, ReadBeforeWrite) {
  std::swap(step(2, 0), step(2, 1));
  expect(2, 0, 3, "reads what the rank does not hold and no earlier step has received");
}

TEST_F(Planted, ReadOfWhatNeverComes) {
  step(1, 0).blocks.range = step(0, 0).blocks.range = {1, 3};
  step(1, 0).bytes = step(0, 0).bytes = 3;
  step(2, 1).blocks.range = step(0, 1).blocks.range = {2, 4};
  step(2, 1).offset = step(0, 1).offset = 1;
  step(2, 1).bytes = step(0, 1).bytes = 3;
  expect(1, 0, 2, "reads what the rank does not hold");
}

TEST_F(Planted, RanksThatWaitForEachOther) {
  // 0 takes 1's message before it calls 1, 1 sends only when called.
  insert(0, 0, message(StepKind::send, 1, {}, 0));
  insert(1, 0, message(StepKind::recv, 0, {}, 0));
  insert(1, 1, wait(0, 1));
  ASSERT_FALSE(check());
  std::swap(step(0, 0), step(0, 1));
  insert(0, 1, wait(0, 1));
  const auto fault = check();
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->text.find("deadlock"), std::string::npos) << fault->text;
  for (const char* part : {"rank 0", "step 0 (recv from 1)", "rank 1", "step 0 (recv from 0)"}) {
    EXPECT_NE(fault->text.find(part), std::string::npos) << fault->text;
  }
}

TEST_F(Planted, WaitForAStepBehindIt) {
  insert(2, 0, wait(2, 3));
  const auto fault = check();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->rank, 2);
  EXPECT_NE(fault->text.find("deadlock"), std::string::npos) << fault->text;
}

TEST_F(Planted, WaitForItself) {
  insert(3, 0, wait(0, 1));
  expect(3, 0, no_rank, "deadlock: it waits for it");
}

TEST_F(Planted, CircleOfForwards) {
  // Each end of a pair must send first, and rendezvous lets neither end.
  reset("linear:order=natural");
  insert(1, 0, message(StepKind::send, 2, {}, 0));
  insert(1, 1, wait(0, 1));
  insert(1, 2, message(StepKind::recv, 2, {}, 0));
  insert(2, 0, message(StepKind::send, 1, {}, 0));
  insert(2, 1, wait(0, 1));
  insert(2, 2, message(StepKind::recv, 1, {}, 0));
  const auto fault = check();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->text,
            "rank 2, step 0 (send to 1): deadlock: it waits for rank 1's step 2 (recv from 2), "
            "which waits for rank 1's step 0 (send to 2), which waits for rank 2's step 2 (recv "
            "from 1), which waits for it");
}

TEST_F(Planted, ScatterFaults) {
  reset("binomial:order=natural", Collective::scatterv);
  // 2 forwards before it receives.
  std::swap(step(2, 0), step(2, 1));
  expect(2, 0, 3, "reads what the rank does not hold");
  reset("binomial:order=natural", Collective::scatterv);
  // 3's block is left with 2.
  erase(2, 1);
  erase(3, 0);
  expect(3, -1, 3, "never reaches the rank");
}

TEST_F(Planted, OperandsOutOfRange) {
  step(1, 0).peer = 4;
  expect(1, 0, 1, "its peer is not a rank from 0 to 3");
  step(1, 0).peer = 1;
  expect(1, 0, 1, "its peer is the rank itself");
  step(1, 0).peer = 0;
  step(1, 0).bytes = -1;
  expect(1, 0, 1, "its bytes are negative");
  step(1, 0).bytes = 2;
  step(1, 0).blocks.range = {1, 5};
  expect(1, 0, 1, "its blocks are not within 0 to 3");
  step(1, 0).blocks = Blocks({1, 2}, {{0, 1}});
  expect(1, 0, 1, "its holes are not ascending within its blocks");
  step(1, 0).blocks = Blocks(BlockRange{1, 2});
  insert(1, 1, wait(0, 7));
  expect(1, 1, no_rank, "waits for steps outside 0-2");
}

TEST_F(Planted, StepThatIsNoPartOfAGather) {
  insert(1, 1, message(StepKind::reduce, 0, {1, 2}, 2));
  expect(1, 1, 1, "a gatherv reduces nothing");
  step(1, 1).kind = StepKind::put;
  expect(1, 1, 1, "a gatherv has no such step");
}

TEST_F(Planted, ScheduleOfAnotherRank) {
  std::swap(schedules_[1], schedules_[2]);
  expect(1, -1, no_rank, "the schedule at index 1 of 4 is that of rank 2 of 4");
}

TEST_F(Planted, ScheduleTooFew) {
  schedules_.pop_back();
  const auto fault = check();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->text,
            "a call of 4 ranks needs as many schedules, sizes and positions, not 3, "
            "4 and 4");
}

TEST_F(Planted, BackgroundSendOfABlockThatTheRankBrings) {
  step(3, 0).runner = Runner::background;
  expect(3, 0, 3, "runs in the background, but reads what the rank brings");
  reset("binomial:order=natural");
  step(2, 0).runner = Runner::background;  // a receive needs nothing of the rank
  EXPECT_FALSE(check());
  step(2, 1).runner = Runner::background;  // it forwards block 3, and its own first
  expect(2, 1, 2, "runs in the background, but reads what the rank brings");
}

TEST_F(Planted, BackgroundStepsOfAScatter) {
  reset("binomial:order=natural", Collective::scatterv);
  step(2, 0).runner = step(2, 1).runner = Runner::background;  // it only passes on
  EXPECT_FALSE(check());
  step(0, 1).runner = Runner::background;
  expect(0, 1, 1, "runs in the background, but reads what the rank brings");
}

TEST_F(Planted, NeedsAndSlotsThatCannotBe) {
  step(2, 1).after = 1;
  expect(2, 1, 2, "it needs a step that does not precede it");
  step(2, 1).after = -1;
  step(2, 1).slots = -1;
  expect(2, 1, 2, "its slots are negative");
}

TEST_F(Planted, SlotsThatKeepRanksFromEachOther) {
  // The root takes rank 1's block first, which waits for what the root sends only then.
  reset("binomial:order=natural");
  insert(1, 0, message(StepKind::recv, 0, {}, 0));
  step(1, 1).after = 0;
  insert(0, 1, message(StepKind::send, 1, {}, 0));
  EXPECT_FALSE(check());
  step(0, 0).slots = step(0, 1).slots = 2;
  EXPECT_FALSE(check());
  step(0, 0).slots = step(0, 1).slots = 1;
  expect(0, 0, 1, "deadlock");
}

TEST_F(Planted, CopiesReadLikeSends) {
  insert(2, 0, message(StepKind::copy, no_rank, {3, 4}, 2));
  expect(2, 0, 3, "reads what the rank does not hold and no earlier step has received");
  std::swap(step(2, 0), step(2, 1));
  EXPECT_FALSE(check());
}

// What one random change breaks, the verifier sees, in every algorithm of the list. Changes that
// keep the contract are left out by construction: each loses, doubles or misdirects bytes.
TEST(PlantedAtRandom, IsCaughtInEveryAlgorithm) {
  std::mt19937_64 random(1);
  Verifier verifier;
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const Specification& specification : variations(algorithm)) {
      const int p = 9;
      const Call call{algorithm.collective, 4, std::vector<Bytes>(p, 6), 2};
      const Problems problems(specification, call);
      const auto good = problems.schedules();
      for (int i = 0; i < 20; ++i) {
        auto bad = good;
        auto& steps = bad[random() % p].steps;
        if (steps.empty()) continue;
        const std::size_t at = random() % steps.size();
        if (steps[at].kind == StepKind::wait) continue;
        const bool may_be_twice =
            steps[at].kind == StepKind::put || steps[at].kind == StepKind::flush ||
            (steps[at].kind == StepKind::reduce && steps[at].operand == Operand::only);
        const auto place = steps.begin() + static_cast<std::ptrdiff_t>(at);
        switch (may_be_twice ? 0 : random() % 4) {
          case 0:
            steps.erase(place);
            break;
          case 1:
            steps.insert(place, Step(*place));
            break;
          case 2:
            place->bytes += 1;
            break;
          default:
            place->kind = place->kind == StepKind::send ? StepKind::recv : StepKind::send;
            break;
        }
        const auto fault = check(verifier, specification, call, problems.order(), bad);
        ASSERT_TRUE(fault) << name_of(call.collective) << " " << to_text(specification);
        EXPECT_GE(fault->rank, 0) << fault->text;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
