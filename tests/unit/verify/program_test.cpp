/// Planted faults in programs are caught, and named by rank and operation.
#include "verify/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/verify/planted_in_programs.hpp"

namespace tutti {
namespace {

using testing_support::PlantedInPrograms;
using namespace testing_support::buffers;

TEST_F(PlantedInPrograms, WrongOffsetPutsOtherBytesIntoAResult) {
  reset(Collective::bcast, "scatter_allgather", 4);
  const int recv = find(1, OperationKind::recv, 0);
  operation(1, recv).to.offset += 1;
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->rank, 1) << fault->text;
  EXPECT_NE(fault->text.find("of the receive buffer"), std::string::npos) << fault->text;
}

TEST_F(PlantedInPrograms, WrongOffsetOfASendReadsUndefinedBytes) {
  reset(Collective::gather, "binomial:order=natural", 4);
  // Rank 2 stages its own block and that of rank 3, and sends both.
  const int send = find(2, OperationKind::send);
  program(2).scratch += 2;
  operation(2, send).from.offset += 1;
  expect(2, send, "reads byte 4 of staging memory, which is undefined");
}

TEST_F(PlantedInPrograms, WrongSourceOfABlockIsInTheResult) {
  reset(Collective::alltoall, "linear:order=natural", 4);
  const int send = find(1, OperationKind::send);
  BlockRange& block = operation(1, send).from.blocks.range;
  block.begin = block.end - 1 == 4 ? 6 : 4;  // a block of rank 1 for another rank
  block.end = block.begin + 1;
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->rank, operation(1, send).peer);
  EXPECT_NE(fault->text.find("at the end where byte 0 of block"), std::string::npos) << fault->text;
}

TEST_F(PlantedInPrograms, BytesOutsideABuffer) {
  reset(Collective::gather, "binomial:order=natural", 4);
  program(2).scratch -= 1;
  expect(2, find(2, OperationKind::recv), "of staging memory, which has 3");
  reset(Collective::gather, "linear", 4);
  const int send = find(3, OperationKind::send);
  operation(3, send).from.area = Area::receive;
  expect(3, send, "uses the receive buffer, which it lacks");
}

TEST_F(PlantedInPrograms, BlocksThatTheCallLacks) {
  reset(Collective::scatter, "linear", 3);
  const int send = find(0, OperationKind::send, 1);
  operation(0, send).from.blocks.range = {2, 4};
  expect(0, send, "names blocks that are not among the 3");
  operation(0, send).from.blocks.range = {-1, 1};
  expect(0, send, "names blocks that are not among the 3");
}

TEST_F(PlantedInPrograms, WritesWhereNoResultBelongs) {
  reset(Collective::scatter, "linear", 3, contiguous + 1);
  Operation extra = operation(0, find(0, OperationKind::send));
  extra.kind = OperationKind::copy;
  extra.to = extra.from;
  program(0).operations.push_back(extra);
  expect(0, static_cast<int>(program(0).operations.size()) - 1, "not the place of a result");
}

TEST_F(PlantedInPrograms, StagingReusedTooEarly) {
  reset(Collective::reduce, "linear", 4);
  const int first = find(0, OperationKind::recv, 1);
  const int second = find(0, OperationKind::recv, 2);
  ASSERT_EQ(operation(0, first).to.area, Area::staging);
  ASSERT_EQ(operation(0, second).to.area, Area::staging);
  operation(0, second).to.offset = operation(0, first).to.offset;
  expect(0, second, "which operation " + std::to_string(first) + " (recv");
}

TEST_F(PlantedInPrograms, StagingReusedWhileATransferReadsIt) {
  reset(Collective::alltoall, "bruck", 4, packed);
  const int send = find(1, OperationKind::send);
  Operation over = operation(1, find(1, OperationKind::copy));
  over.kind = OperationKind::copy;
  over.to = operation(1, send).from;
  over.to.bytes = over.from.bytes;
  over.first_need = operation(1, send).first_need;  // the copies that fill these bytes
  over.last_need = operation(1, send).last_need;
  program(1).operations.insert(program(1).operations.begin() + send + 1, over);
  for (Operation& later : program(1).operations) {
    if (later.kind == OperationKind::wait) later.first = later.last = 0;
  }
  for (int& need : program(1).needs) need += need > send ? 1 : 0;
  expect(1, send + 1, "(send");
}

TEST_F(PlantedInPrograms, MissingNeed) {
  reset(Collective::gather, "binomial:order=natural", 4);
  const int send = find(2, OperationKind::send);
  operation(2, send).last_need = operation(2, send).first_need;
  expect(2, send, "may be writing");
}

TEST_F(PlantedInPrograms, NeedsAndWaitsThatNameNoEarlierOperation) {
  reset(Collective::gather, "binomial:order=natural", 4);
  const int send = find(2, OperationKind::send);
  ASSERT_LT(operation(2, send).first_need, operation(2, send).last_need);
  program(2).needs[static_cast<std::size_t>(operation(2, send).first_need)] = send;
  expect(2, send, "needs operation " + std::to_string(send) + ", which is not before it");
  reset(Collective::gather, "linear_sequence", 3);
  const int wait = find(0, OperationKind::wait);
  operation(0, wait).last = wait + 1;
  expect(0, wait, "waits for operations that are not before it");
}

TEST_F(PlantedInPrograms, NeedsOfAWait) {
  reset(Collective::allgather, "ring", 4);
  // A wait that names nothing needs the block that the next operation passes on.
  const int send = find(1, OperationKind::send, 1);
  for (int& need : program(1).needs) need += need >= send ? 1 : 0;
  Operation wait = operation(1, send);
  wait.kind = OperationKind::wait;
  wait.from = {};
  ASSERT_LT(wait.first_need, wait.last_need);
  operation(1, send).first_need = operation(1, send).last_need;
  program(1).operations.insert(program(1).operations.begin() + send, wait);
  expect(1, send, "is a wait, whose needs nobody awaits");
}

TEST_F(PlantedInPrograms, NodeMemoryOfARankWithoutNode) {
  reset(Collective::gather, "linear", 3);
  const int send = find(1, OperationKind::send);
  operation(1, send).from.area = Area::node;
  expect(1, send, "uses node memory, which its rank lacks");
}

TEST_F(PlantedInPrograms, CopiesOfOtherLengths) {
  reset(Collective::gather, "linear", 3);
  const int copy = find(0, OperationKind::copy);
  operation(0, copy).from.bytes = 1;
  operation(0, copy).from.whole = false;
  expect(0, copy, "copies 1 bytes to 2");
}

TEST_F(PlantedInPrograms, OperandsOfDifferentBytes) {
  reset(Collective::reduce, "linear", 3);
  const int reduce = find(0, OperationKind::reduce);
  operation(0, reduce).from.offset += 1;
  operation(0, reduce).from.bytes = operation(0, reduce).to.bytes = 1;
  expect(0, reduce, "combines byte 1 of block 0 with byte 0 of block 0");
}

TEST_F(PlantedInPrograms, MissingWait) {
  reset(Collective::allgather, "ring", 4);
  const int send = find(1, OperationKind::send, 1);
  operation(1, send).last_need = operation(1, send).first_need;
  for (Operation& each : program(1).operations) {
    if (each.kind == OperationKind::wait) each.first = each.last = 0;
  }
  expect(1, send, "may be writing");
}

TEST_F(PlantedInPrograms, OverlappingAreas) {
  reset(Collective::gather, "binomial:order=natural", 4);
  const int copy = find(2, OperationKind::copy);
  program(2).scratch += 8;
  Operation& changed = operation(2, copy);
  changed.from = changed.to;
  changed.from.offset += 1;
  expect(2, copy, "uses overlapping bytes of staging memory");
}

TEST_F(PlantedInPrograms, UnmatchedMessages) {
  reset(Collective::gather, "linear:order=natural", 3);
  operation(2, find(2, OperationKind::send)).message = 1;
  expect(2, find(2, OperationKind::send), "has a message whose number does not follow that before");
  reset(Collective::gather, "linear:order=natural", 3);
  program(0).operations.erase(program(0).operations.begin() + find(0, OperationKind::recv, 1));
  expect(2, find(2, OperationKind::send), "is a send without a partner at rank 0");
  reset(Collective::gather, "linear:order=natural", 3);
  operation(2, find(2, OperationKind::send)).peer = 2;
  expect(2, find(2, OperationKind::send), "has its own rank as its peer");
}

TEST_F(PlantedInPrograms, MessagesOfOneNumber) {
  reset(Collective::bcast, "chain:parts=2", 2, 0, 2);
  const int send = find(0, OperationKind::send, 1);
  operation(0, send).message = operation(1, find(1, OperationKind::recv, 1)).message = 0;
  expect(0, send, "has a message whose number does not follow that before");
}

TEST_F(PlantedInPrograms, SlotHeldByAMessageThatNeedsAnother) {
  reset(Collective::gather, "linear_pull:flight=1,order=natural", 4);
  const int held = find(0, OperationKind::recv, 1);
  ASSERT_EQ(operation(0, held).slots, 1);
  // Rank 2 sends its block to the root once rank 1's has come to it.
  const int last = find(1, OperationKind::send, 1);
  Operation relayed = operation(1, last);
  relayed.peer = 2;
  relayed.message = 0;
  program(1).operations.push_back(relayed);
  const int own = find(2, OperationKind::send, 1);
  relayed.kind = OperationKind::recv;
  relayed.peer = 1;
  relayed.to = {Area::staging, {}, program(2).scratch, relayed.from.bytes};
  program(2).scratch += relayed.from.bytes;
  relayed.first_need = relayed.last_need = 0;
  program(2).operations.insert(program(2).operations.begin() + own, relayed);
  Operation& waits = operation(2, own + 1);
  waits.first_need = static_cast<int>(program(2).needs.size());
  waits.last_need = waits.first_need + 1;
  program(2).needs.push_back(own);
  expect(0, find(0, OperationKind::recv, 3), "may hold a slot for ever: rank 2's operation");
}

TEST_F(PlantedInPrograms, SlotsWithDifferentLimits) {
  reset(Collective::gather, "linear_pull:flight=3,order=natural", 4);
  const int block = find(2, OperationKind::send, 1);
  Operation& needs = operation(2, block);
  needs.first_need = static_cast<int>(program(2).needs.size());
  needs.last_need = needs.first_need + 1;
  program(2).needs.push_back(find(2, OperationKind::send));  // its announcement
  ASSERT_FALSE(made_->check(verifier_, 1)) << "nothing waits for a slot";
  operation(0, find(0, OperationKind::recv, 5)).slots = 1;
  expect(0, find(0, OperationKind::recv, 3), "may hold a slot for ever: rank 2's operation");
}

TEST_F(PlantedInPrograms, SlotsAtBothEnds) {
  reset(Collective::alltoall, "linear:order=natural", 3);
  for (Rank rank = 0; rank < 3; ++rank) {
    for (Operation& each : program(rank).operations) {
      if (each.kind == OperationKind::send || each.kind == OperationKind::recv) each.slots = 1;
    }
  }
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->text.find("needs a slot"), std::string::npos) << fault->text;
}

TEST_F(PlantedInPrograms, MessagesOfOneTagOutOfSequence) {
  reset(Collective::bcast, "chain:parts=3080", 2, 0, 3080);
  const int send = find(0, OperationKind::send, message_tags + 1);
  const int before = find(0, OperationKind::send, 1);
  operation(0, send).last_need = operation(0, send).first_need;
  expect(0, send, "may begin before operation " + std::to_string(before) + ", whose message");
}

TEST_F(PlantedInPrograms, BlocksOfSeveralTypesInOneReference) {
  reset(Collective::alltoallv, "linear", 4, typed);
  const int send = find(1, OperationKind::send);
  BlockRange& block = operation(1, send).from.blocks.range;
  block.end = block.begin + 2;
  expect(1, send, "names blocks that may differ in datatype");
}

TEST_F(PlantedInPrograms, LengthsThatDiffer) {
  reset(Collective::bcast, "linear", 3);
  Operation& recv = operation(2, find(2, OperationKind::recv));
  recv.to.bytes = 1;
  recv.to.whole = false;
  expect(0, find(0, OperationKind::send, 1), "sends 2 bytes to rank 2, which receives 1");
}

TEST_F(PlantedInPrograms, Deadlock) {
  reset(Collective::alltoall, "linear", 2);
  for (const Rank rank : {0, 1}) {
    Program& cyclic = program(rank);
    const int recv = find(rank, OperationKind::recv);
    const int send = find(rank, OperationKind::send);
    // Both receive before they send.
    std::swap(operation(rank, recv), operation(rank, std::max(0, std::min(recv, send))));
    const int before = find(rank, OperationKind::recv);
    const int after = find(rank, OperationKind::send);
    ASSERT_LT(before, after);
    cyclic.needs.push_back(before);
    operation(rank, after).first_need = static_cast<int>(cyclic.needs.size()) - 1;
    operation(rank, after).last_need = static_cast<int>(cyclic.needs.size());
  }
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->text.find("never completes"), std::string::npos) << fault->text;
}

TEST_F(PlantedInPrograms, SegmentsOfTypedBuffers) {
  reset(Collective::gather, "linear", 3, typed);
  const int recv = find(0, OperationKind::recv);
  operation(0, recv).to.bytes = 1;
  expect(0, recv, "names 1 bytes of the receive buffer where its blocks have 2");
}

TEST_F(PlantedInPrograms, BlocksLeftOut) {
  for (const int kind : {contiguous, typed}) {
    reset(Collective::allgather, "ring:order=natural", 3, kind);
    const int recv = find(1, OperationKind::recv);
    const BlockIndex source = operation(1, recv).to.blocks.range.begin;
    operation(1, recv).to = {Area::receive, {}, Bytes{2} * source, 2};
    expect(1, recv, "names no blocks of the receive buffer");
  }
}

TEST_F(PlantedInPrograms, InputReadBeforeArrival) {
  reset(Collective::gather, "linear", 3);
  const int send = find(1, OperationKind::send);
  operation(1, send).runner = Runner::background;
  expect(1, send, "before the rank arrives");
}

TEST_F(PlantedInPrograms, ABarrierThatTheBackgroundThreadAnswers) {
  reset(Collective::barrier, "dissemination", 3);
  for (Operation& one : program(1).operations) one.runner = Runner::background;
  const auto fault = made_->check(verifier_, 1);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->text.find("though rank 1 may not have entered"), std::string::npos)
      << fault->text;
}

TEST_F(PlantedInPrograms, MissingResult) {
  reset(Collective::allgather, "linear", 3);
  const int copy = find(1, OperationKind::copy);
  operation(1, copy).from = operation(1, copy).to = {};
  expect(1, -1, "lacks byte 0 of block 1 at the end");
}

}  // namespace
}  // namespace tutti
