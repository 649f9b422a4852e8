/// Tests what the model finds fastest: flat calls or calls through node memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "algorithms/hierarchical_problems.hpp"
#include "closed_forms/hierarchical_times.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

/// The fastest flat algorithm for the mean number of ranks on a node, over the programs.
double flat_over_hierarchical(const char* text, Bytes block, Collective collective) {
  const Nodes nodes = *nodes_from(text);
  const Call call{collective, 0,
                  std::vector<Bytes>(static_cast<std::size_t>(nodes.p()),
                                     collective == Collective::barrier ? 0 : block)};
  const auto flat = flat_times(collective, {nodes.count(), nodes.p() / nodes.count()},
                               static_cast<double>(block), {});
  const auto programs = *hierarchical_programs(call, nodes, {});
  return std::ranges::min(flat, {}, &FlatTime::seconds).seconds /
         program_seconds(programs, nodes, {}).total();
}

TEST(HierarchicalTimes, AreBelowFlatOnesWhereNodesHaveManyRanks) {
  EXPECT_GT(flat_over_hierarchical("64x32", 512, Collective::allgather), 1);
  EXPECT_LT(flat_over_hierarchical("64x32", 1 << 20, Collective::reduce_scatter_block), 1);
  // Few more ranks than nodes: a flat call has no more work than the nodes.
  EXPECT_LT(flat_over_hierarchical("4,1,1,1,1,1", 64, Collective::allgather), 1);
}

TEST(HierarchicalTimes, AreThereForEveryCollectiveBesideFlatOnes) {
  for (const Collective collective : hierarchical_collectives) {
    for (const char* nodes : {"2x2", "8x6", "1,4,2,3,1", "8"}) {
      const double gain = flat_over_hierarchical(nodes, 4096, collective);
      EXPECT_TRUE(gain > 0 && std::isfinite(gain)) << name_of(collective) << ": " << gain;
    }
  }
}

}  // namespace
}  // namespace tutti
