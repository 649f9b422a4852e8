/// Tests what the model proposes for calls through node memory.
#include <gtest/gtest.h>

#include "select/hierarchical.hpp"

namespace tutti {
namespace {

std::string first_of(const char* nodes, Bytes block, Collective collective) {
  return hierarchical_proposals(collective, *nodes_from(nodes), block, {}).front().name;
}

TEST(HierarchicalProposals, BeginWithWhatTheModelFindsFastest) {
  EXPECT_TRUE(first_of("64x32", 512, Collective::allgather).starts_with("hierarchical(native"));
  EXPECT_TRUE(first_of("64x32", 1 << 20, Collective::reduce_scatter_block).starts_with("flat "));
  // Few more ranks than nodes: a flat call has no more work than the nodes.
  EXPECT_TRUE(first_of("4,1,1,1,1,1", 64, Collective::allgather).starts_with("flat "));
}

TEST(HierarchicalProposals, AreSortedByTime) {
  for (const Collective collective : hierarchical_collectives) {
    for (const char* nodes : {"2x2", "8x6", "1,4,2,3,1", "8"}) {
      const auto all = hierarchical_proposals(collective, *nodes_from(nodes), 4096, {});
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.seconds < b.seconds;
      })) << name_of(collective);
      EXPECT_EQ(std::count_if(all.begin(), all.end(),
                              [](const Candidate& one) { return one.name.starts_with("hier"); }),
                1);
    }
  }
}

TEST(HierarchicalProposals, HaveEightLeadersAtMost) {
  NodeMachine machine;
  machine.sender_per_byte = 64 * machine.per_byte;
  EXPECT_GT(best_leaders(Collective::alltoall, {16, 32}, 65536, machine), 8);
  EXPECT_EQ(leaders_for(Collective::alltoall, {16, 32}, 65536, machine), 8);
}

TEST(NodeMachines, AreWrittenBesideAMachine) {
  Machine machine;
  machine.latency = 5e-6;
  NodeMachine nodes;
  nodes.signal = 3e-7;
  const std::string text = to_text(machine, nodes);
  EXPECT_EQ(*machine_from_text(text), machine);
  const NodeMachine read = *node_machine_from_text(text);
  EXPECT_EQ(read.latency, 5e-6);
  EXPECT_EQ(read.signal, 3e-7);
}

}  // namespace
}  // namespace tutti
