/// Planted faults in the programs of one-sided collectives are caught, and named.
#include <utility>

#include "unit/verify/planted_in_programs.hpp"

namespace tutti {
namespace {

using testing_support::PlantedInPrograms;
using PlantedInPuts = PlantedInPrograms;

constexpr OperationKind put = OperationKind::put;

TEST_F(PlantedInPuts, OffsetsOutsideTheWindow) {
  reset(Collective::rma_bcast, "binomial:order=natural,carry=0", 4);
  const int first = find(0, put);
  operation(0, first).to.offset = 1;
  expect(0, first, "uses bytes 1 to 3 of the window, which has 2");
}

TEST_F(PlantedInPuts, OwnWindows) {
  reset(Collective::rma_bcast, "binomial:order=natural,carry=0", 4);
  const int first = find(0, put);
  operation(0, first).peer = 0;
  expect(0, first, "puts to no other rank");
}

// Parts of one byte each, in reverse.
TEST_F(PlantedInPuts, OffsetsOfOtherBytes) {
  reset(Collective::rma_bcast, "chain:order=natural,parts=2,carry=0", 3);
  std::swap(operation(1, find(1, put)).to.offset, operation(1, find(1, put, 1)).to.offset);
  expect(2, -1, "has byte 0 of block 1 at the end where byte 0 of block 0 belongs");
}

TEST_F(PlantedInPuts, OverlappingTargets) {
  reset(Collective::rma_bcast, "chain:order=natural,parts=2,carry=0", 3);
  const int second = find(1, put, 1);
  operation(1, second).to.offset = 0;
  expect(1, second, "writes bytes of the window of rank 2, which operation");
}

TEST_F(PlantedInPuts, TargetsThatTheirRankIsReading) {
  reset(Collective::rma_bcast, "chain:order=natural,parts=2,carry=0", 3);
  const int first = find(0, put);
  std::swap(operation(0, first).to, operation(0, find(0, put, 1)).to);
  std::swap(operation(0, first).from, operation(0, find(0, put, 1)).from);
  expect(0, find(0, put, 1), "writes bytes of the window of rank 1, which its operation");
}

TEST_F(PlantedInPuts, SourcesThatChangeBeforeTheFlush) {
  reset(Collective::rma_bcast, "linear:order=natural,carry=0", 2);
  ASSERT_EQ(find(0, OperationKind::copy), 0);
  ASSERT_EQ(find(0, put), 1);
  operation(0, 1).from = operation(0, 0).to;
  std::swap(operation(0, 0).kind, operation(0, 1).kind);
  std::swap(operation(0, 0).peer, operation(0, 1).peer);
  std::swap(operation(0, 0).from, operation(0, 1).from);
  expect(0, 1, "writes bytes that operation 0 (put 1) may be reading until its flush");
}

TEST_F(PlantedInPuts, MissingNotifications) {
  reset(Collective::rma_scatter, "binomial:order=natural,carry=0", 4);
  const int notification = find(2, OperationKind::send);
  operation(2, notification).kind = OperationKind::flush;
  expect(3, find(3, OperationKind::recv), "is a recv without a partner at rank 2");
}

TEST_F(PlantedInPuts, OperationsOutOfSequence) {
  reset(Collective::rma_reduce, "binomial:order=natural", 4);
  const int reduce = find(2, OperationKind::reduce);
  operation(2, reduce).last_need = operation(2, reduce).first_need;
  expect(2, reduce, "does not need the one before");
}

TEST_F(PlantedInPuts, InputThatIsChanged) {
  reset(Collective::rma_reduce, "binomial:order=natural", 4);
  const int reduce = find(2, OperationKind::reduce);
  operation(2, reduce).to = {Area::window, {}, 0, 2};
  expect(2, reduce, "which are not the place of a result");
}

}  // namespace
}  // namespace tutti
