/// Tests what the model proposes for calls through node memory.
#include <gtest/gtest.h>

#include "algorithms/hierarchical_problems.hpp"
#include "select/hierarchical.hpp"

namespace tutti {
namespace {

std::vector<Candidate> proposals_of(const char* text, Bytes block, Collective collective) {
  const Nodes nodes = *nodes_from(text);
  const Call call{collective, 0,
                  std::vector<Bytes>(static_cast<std::size_t>(nodes.p()),
                                     collective == Collective::barrier ? 0 : block)};
  return hierarchical_proposals(collective, nodes, block, *hierarchical_programs(call, nodes, {}),
                                {});
}

std::string first_of(const char* nodes, Bytes block, Collective collective) {
  return proposals_of(nodes, block, collective).front().name;
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
      const auto all = proposals_of(nodes, 4096, collective);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.seconds < b.seconds;
      })) << name_of(collective);
      EXPECT_EQ(std::count_if(all.begin(), all.end(),
                              [](const Candidate& one) { return one.name.starts_with("hier"); }),
                1);
    }
  }
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
