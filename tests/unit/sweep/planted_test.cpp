/// Planted faults of each kind are caught, and named by rank and step.
#include <random>

#include "sweep/sweep.hpp"
#include "unit/sweep/planted_in_schedules.hpp"

namespace tutti {
namespace {

/// A gather of 4 ranks with 2 bytes each along the binomial tree, natural order:
///     rank 0    0 recv 1 [1,2) 2     1 recv 2 [2,4) 4
///     rank 1    0 send 0 [1,2) 2
///     rank 2    0 recv 3 [3,4) 2     1 send 0 [2,4) 4
///     rank 3    0 send 2 [3,4) 2
class Planted : public testing_support::PlantedInSchedules {
 protected:
  Planted() { restart(); }

  void restart(const char* algorithm = "binomial:order=natural",
               Collective collective = Collective::gatherv) {
    reset(collective, algorithm, 4, 2);
  }
};

TEST_F(Planted, ReceiveLeftOut) {
  erase(0, 0);
  expect(1, 0, "is a send without a partner at rank 0");
}

TEST_F(Planted, SendLeftOut) {
  erase(1, 0);
  expect(0, 0, "is a recv without a partner at rank 1");
}

TEST_F(Planted, MessageLeftOutAtBothEnds) {
  erase(0, 0);
  erase(1, 0);
  expect(0, -1, "lacks byte 0 of block 1 at the end");
}

TEST_F(Planted, HalfABlockLeftOutAtBothEnds) {
  step(0, 0).bytes = step(1, 0).bytes = 1;
  expect(0, 0, "names 1 bytes of the receive buffer where its blocks have 2");
}

TEST_F(Planted, SwappedPeer) {
  step(1, 0).peer = 2;
  expect(0, 0, "is a recv without a partner at rank 1");
}

TEST_F(Planted, OtherSizeAtOneEnd) {
  step(0, 1).bytes = 3;
  expect(0, 1, "names 3 bytes of the receive buffer where its blocks have 4");
}

TEST_F(Planted, OtherBlocksAtOneEnd) {
  step(0, 0).blocks.range = {2, 3};
  expect(0, -1, "lacks byte 0 of block 1 at the end");
}

TEST_F(Planted, OtherSegmentAtOneEnd) {
  step(0, 1).offset = 1;
  step(0, 1).bytes = step(2, 1).bytes = 3;
  expect(0, -1, "lacks byte 0 of block 2 at the end");
}

TEST_F(Planted, HoleAtOneEnd) {
  step(2, 1).blocks.holes = {{3, 4}};
  step(2, 1).bytes = 2;
  expect(2, 1, "sends 2 bytes to rank 0, which receives 4");
}

TEST_F(Planted, MoreBytesThanTheBlocksHave) {
  step(0, 1).bytes = step(2, 1).bytes = 5;
  expect(0, 1, "names 5 bytes of the receive buffer where its blocks have 4");
}

TEST_F(Planted, BlockReceivedTwice) {
  insert(0, 1, message(StepKind::recv, 1, {1, 2}, 2));
  insert(1, 1, message(StepKind::send, 0, {1, 2}, 2));
  expect(0, 1, "receives byte 0 of block 1 or bytes after it, which its rank has");
}

TEST_F(Planted, ReceivesThatOverlapByOneByte) {
  // 1 also sends what it does not have, but the overlap at 0 comes first.
  step(0, 0).blocks.range.end = step(1, 0).blocks.range.end = 3;
  step(0, 0).bytes = step(1, 0).bytes = 3;
  expect(0, 1, "which operation 0 (recv 1) may be writing");
}

TEST_F(Planted, ReceiveOfWhatIsThere) {
  restart("binomial:order=natural", Collective::scatterv);
  // 2 sends block 3 to 3, and back to the root.
  insert(2, 1, message(StepKind::send, 0, {3, 4}, 2));
  insert(0, 2, message(StepKind::recv, 2, {3, 4}, 2));
  expect(0, 2, "receives byte 0 of block 3 or bytes after it, which its rank has");
}

TEST_F(Planted, ReadBeforeWrite) {
  std::swap(step(2, 0), step(2, 1));
  expect(2, 0, "names 4 bytes of the send buffer where its blocks have 2");
}

TEST_F(Planted, ReadOfWhatNeverComes) {
  step(1, 0).blocks.range = step(0, 0).blocks.range = {1, 3};
  step(1, 0).bytes = step(0, 0).bytes = 3;
  step(2, 1).blocks.range = step(0, 1).blocks.range = {2, 4};
  step(2, 1).offset = step(0, 1).offset = 1;
  step(2, 1).bytes = step(0, 1).bytes = 3;
  expect(1, 0, "uses bytes 0 to 3 of the send buffer, which has 2");
}

TEST_F(Planted, RanksThatWaitForEachOther) {
  // 0 takes 1's message before it calls 1, 1 sends only when called.
  insert(0, 0, message(StepKind::send, 1, {}, 0));
  insert(1, 0, message(StepKind::recv, 0, {}, 0));
  insert(1, 1, wait(0, 1));
  expect_none();
  std::swap(step(0, 0), step(0, 1));
  insert(0, 1, wait(0, 1));
  const std::string text = fault();
  EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
  for (const char* part :
       {"rank 0 step 0 ", "rank 1's operation 2 (send 0)", "rank 1's operation 0 (recv 0)"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST_F(Planted, CircleOfForwards) {
  // Each end of a pair must send first, and rendezvous lets neither end.
  restart("linear:order=natural");
  insert(1, 0, message(StepKind::send, 2, {}, 0));
  insert(1, 1, wait(0, 1));
  insert(1, 2, message(StepKind::recv, 2, {}, 0));
  insert(2, 0, message(StepKind::send, 1, {}, 0));
  insert(2, 1, wait(0, 1));
  insert(2, 2, message(StepKind::recv, 1, {}, 0));
  const std::string text = fault();
  EXPECT_EQ(text,
            "rank 1 step 2 operation 2 never completes: deadlock: it waits for rank 1's operation "
            "0 (send 2), which waits for rank 2's operation 2 (recv 1), which waits for rank 2's "
            "operation 0 (send 1), which waits for it");
}

TEST_F(Planted, ScatterFaults) {
  restart("binomial:order=natural", Collective::scatterv);
  // 2 forwards before it receives.
  std::swap(step(2, 0), step(2, 1));
  expect(2, 0, "reads byte 0 of staging memory, which is undefined");
  restart("binomial:order=natural", Collective::scatterv);
  // 3's block is left with 2.
  erase(2, 1);
  erase(3, 0);
  expect(2, 0, "uses bytes 0 to 4 of the receive buffer, which has 2");
}

TEST_F(Planted, OperandsOutOfRange) {
  step(1, 0).peer = 4;
  expect(0, 0, "is a recv without a partner at rank 1");
  insert(1, 1, message(StepKind::send, 0, {1, 2}, 2));
  expect(1, 0, "is a send without a partner at rank 4");
  erase(1, 1);
  step(1, 0).peer = 1;
  expect(1, 0, "has its own rank as its peer");
  step(1, 0).peer = 0;
  step(1, 0).bytes = -1;
  expect(1, 0, "sends 0 bytes to rank 0, which receives 2");
}

TEST_F(Planted, BlocksOutOfRange) {
  restart("linear:order=natural", Collective::allgather);
  for (Step& step : steps(1)) {
    if (step.kind == StepKind::recv && step.peer == 3) step.blocks.range = {4, 5};
  }
  expect(1, -1, "lacks byte 0 of block 3 at the end");
}

TEST_F(Planted, StepThatIsNoPartOfAGather) {
  insert(1, 1, message(StepKind::put, 0, {1, 2}, 2));
  expect(1, 1, "is a recv without a partner at rank 0");
}

TEST_F(Planted, ScheduleOfAnotherRank) {
  std::swap(schedules_[1], schedules_[2]);
  expect(1, 1, "uses bytes 2 to 6 of staging memory, which has 4");
}

TEST_F(Planted, BackgroundSendOfABlockThatTheRankBrings) {
  step(3, 0).runner = Runner::background;
  expect(3, 0, "reads byte 0 of block 3 before the rank arrives");
  restart();
  step(2, 0).runner = Runner::background;  // a receive needs nothing of the rank
  expect_none();
  // It forwards block 3, and its own first: the caller copies that to staging memory.
  step(2, 1).runner = Runner::background;
  expect_none();
}

TEST_F(Planted, BackgroundStepsOfAScatter) {
  restart("binomial:order=natural", Collective::scatterv);
  step(2, 0).runner = step(2, 1).runner = Runner::background;  // it only passes on
  expect_none();
  step(0, 1).runner = Runner::background;
  expect(0, 1, "reads byte 0 of block 1 before the rank arrives");
}

TEST_F(Planted, SlotsThatKeepRanksFromEachOther) {
  // The root takes rank 1's block first, which waits for what the root sends only then.
  restart();
  insert(1, 0, message(StepKind::recv, 0, {}, 0));
  step(1, 1).after = 0;
  insert(0, 1, message(StepKind::send, 1, {}, 0));
  expect_none();
  step(0, 0).slots = step(0, 1).slots = 2;
  expect_none();
  step(0, 0).slots = step(0, 1).slots = 1;
  expect(0, 0, "may hold a slot for ever: rank 1's operation 1 (send 0) needs its operation 0");
}

/// Leaves out a step, as an algorithm would: others keep what they refer to.
void leave_out(std::vector<Step>& steps, StepId left) {
  steps.erase(steps.begin() + left);
  for (Step& step : steps) {
    for (StepId* id : {&step.first, &step.last, &step.after}) *id -= *id > left ? 1 : 0;
    if (step.after == left && step.kind != StepKind::reduce) step.after = -1;
  }
}

/// Paznikov's descriptions and second flushes, which no notification needs.
bool is_spare(const std::vector<Step>& steps, std::size_t at) {
  const Step& step = steps[at];
  if (step.kind == StepKind::put) return step.bytes == 0;
  return step.kind == StepKind::flush && steps[at - 1].kind == StepKind::notify &&
         steps[at - 1].peer == step.peer;
}

// What one random change breaks, the verifier sees, in every algorithm of the list. Changes that
// keep the contract are left out by construction: each loses, doubles or misdirects bytes.
TEST(PlantedAtRandom, IsCaughtInEveryAlgorithm) {
  std::mt19937_64 random(1);
  ProgramVerifier verifier;
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
        if (steps[at].kind == StepKind::wait || is_spare(steps, at)) continue;
        const bool may_be_twice =
            steps[at].kind == StepKind::put || steps[at].kind == StepKind::flush ||
            (steps[at].kind == StepKind::reduce && steps[at].operand == Operand::only);
        // The bytes of others follow from their blocks.
        const bool has_bytes = steps[at].kind == StepKind::send || steps[at].kind == StepKind::recv;
        const auto place = steps.begin() + static_cast<std::ptrdiff_t>(at);
        switch (may_be_twice ? 0 : random() % 4) {
          case 1:
            steps.insert(place, Step(*place));
            break;
          case 2:
            if (has_bytes) {
              place->bytes += 1;
              break;
            }
            [[fallthrough]];
          case 0:
            leave_out(steps, static_cast<StepId>(at));
            break;
          default:
            place->kind = place->kind == StepKind::send ? StepKind::recv : StepKind::send;
            break;
        }
        const std::string fault =
            fault_of(verifier, specification, call, problems, bad, i % buffer_kinds);
        ASSERT_TRUE(fault.starts_with("rank "))
            << name_of(call.collective) << " " << to_text(specification) << " kind "
            << i % buffer_kinds << " step " << at << ": " << fault;
      }
    }
  }
}

}  // namespace
}  // namespace tutti
