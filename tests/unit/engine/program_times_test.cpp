/// Tests the modelled times of programs: by hand, and those of few programs against those of all.
#include <gtest/gtest.h>

#include "algorithms/hierarchical_problems.hpp"
#include "closed_forms/hierarchical_times.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

Call call_of(Collective collective, const Nodes& nodes, Bytes block) {
  return {collective, 0,
          std::vector<Bytes>(static_cast<std::size_t>(nodes.p()),
                             collective == Collective::barrier ? 0 : block)};
}

HierarchicalSeconds seconds_of(const Call& call, const Nodes& nodes,
                               const HierarchicalOptions& options, const Machine& machine) {
  return program_seconds(*hierarchical_programs(call, nodes, options), nodes, machine);
}

/// 1 second a byte copied in or out, 100 a byte between nodes and nothing else.
Machine simple_machine() {
  Machine machine = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  machine.copy_per_byte = 1;
  machine.per_byte = machine.sender_per_byte = 100;
  return machine;
}

TEST(ProgramTimes, FollowTheCriticalPath) {
  const Nodes nodes = *nodes_from("2x3");
  Machine machine = simple_machine();
  machine.signal = 7;
  // The root copies in; the leader of the other node has the data; its neighbours await it.
  const HierarchicalSeconds bcast =
      seconds_of(call_of(Collective::bcast, nodes, 10), nodes, {}, machine);
  EXPECT_DOUBLE_EQ(bcast.copies_in, 10);
  EXPECT_DOUBLE_EQ(bcast.between, 1000);
  EXPECT_DOUBLE_EQ(bcast.copies_out, 10);
  EXPECT_DOUBLE_EQ(bcast.signals, 7);
  // 3 ranks share the memory's rate.
  machine.shared_per_byte = 2;
  EXPECT_DOUBLE_EQ(seconds_of(call_of(Collective::gather, nodes, 10), nodes, {}, machine).copies_in,
                   60);
}

TEST(ProgramTimes, OverlapChunks) {
  const Nodes nodes = *nodes_from("2x2");
  Machine machine = simple_machine();
  machine.copy_per_byte = 100;
  const Call call = call_of(Collective::bcast, nodes, 1000);
  const double whole = seconds_of(call, nodes, {}, machine).total();
  EXPECT_DOUBLE_EQ(whole, 3e5);
  const double chunked = seconds_of(call, nodes, {.chunks = 10}, machine).total();
  EXPECT_LT(chunked, whole);
  EXPECT_GT(chunked, whole / 3);
}

TEST(ProgramTimes, CountTheLargestOfUnevenNodes) {
  const Machine machine = simple_machine();
  const Nodes uneven = *nodes_from("1,4,2");
  const Call call = call_of(Collective::allgather, uneven, 10);
  const HierarchicalSeconds seconds = seconds_of(call, uneven, {}, machine);
  EXPECT_DOUBLE_EQ(seconds.copies_in, 10);
  EXPECT_DOUBLE_EQ(seconds.copies_out, 70);
}

class FewPrograms : public testing::TestWithParam<Collective> {};

TEST_P(FewPrograms, TakeAsLongAsThoseOfAllRanks) {
  constexpr Bytes block = 3840;
  const Machine machine;
  for (const char* text : {"1x4", "2x5", "3x4", "6x4", "9x8"}) {
    const Nodes nodes = *nodes_from(text);
    const NodeShape shape = {nodes.count(), nodes.most()};
    for (const int leaders : {1, 2, 4}) {
      const double all =
          seconds_of(call_of(GetParam(), nodes, block), nodes, {.leaders = leaders}, machine)
              .total();
      const Bytes own = GetParam() == Collective::barrier ? 0 : block;
      EXPECT_NEAR(hierarchical_seconds(GetParam(), shape, own, leaders, machine).total() / all, 1,
                  0.01)
          << text << " leaders " << leaders;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Model, FewPrograms, testing::ValuesIn(hierarchical_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
