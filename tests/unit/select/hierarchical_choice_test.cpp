/// Tests the selection of node memory: shapes, sizes, and required measurements.
#include <gtest/gtest.h>

#include "select/hierarchical.hpp"

namespace tutti {
namespace {

HierarchicalFeatures on(const char* text, std::optional<Bytes> block,
                        Collective collective = Collective::allgather) {
  const Nodes nodes = *nodes_from(text);
  return {collective, shape_of(nodes), block, true, min_shape_of(nodes)};
}

/// The default machine, measured with a core for each rank.
NodeMachine measured() {
  NodeMachine machine;
  machine.oversubscription = 1;
  return machine;
}

TEST(HierarchicalChoices, GoThroughNodeMemoryWhereItPays) {
  const HierarchicalChoice choice = choose_hierarchical(on("64x32", 512), {});
  EXPECT_TRUE(choice.level.hierarchical);
  EXPECT_GT(choice.level.leaders, 1);
  EXPECT_EQ(choice.candidates.front().name,
            to_text(Setting{Setting::Kind::native, {}, choice.level}));
  EXPECT_NE(choice.reason.find("at least 50 % faster"), std::string::npos) << choice.reason;
  EXPECT_NE(choose_hierarchical(on("64x32", 512), measured()).reason.find("at least 10 % faster"),
            std::string::npos);
}

TEST(HierarchicalChoices, StayFlatElsewhere) {
  EXPECT_FALSE(choose_hierarchical(on("64x1", 512), {}).level.hierarchical);
  EXPECT_FALSE(choose_hierarchical(on("64x32", std::nullopt), {}).level.hierarchical);
  EXPECT_FALSE(choose_hierarchical(on("64x32", 0), {}).level.hierarchical);
  EXPECT_TRUE(
      choose_hierarchical(on("64x32", 0, Collective::barrier), measured()).level.hierarchical);
  HierarchicalFeatures ordered = on("64x32", 512, Collective::allreduce);
  ordered.keeps_order = false;
  EXPECT_NE(choose_hierarchical(ordered, {}).reason.find("does not commute"), std::string::npos);
  const HierarchicalFeatures large = on("64x32", 1 << 20, Collective::reduce_scatter_block);
  EXPECT_NE(choose_hierarchical(large, {}).reason.find("below 50 %"), std::string::npos);
  EXPECT_NE(choose_hierarchical(large, measured()).reason.find("below 10 %"), std::string::npos);
}

TEST(HierarchicalChoices, NeverGoThroughNodesWithoutTheGainTheyPromise) {
  for (const NodeMachine& machine : {NodeMachine{}, measured()}) {
    for (const Collective collective : matched_collectives) {
      for (const char* nodes : {"2x2", "8x6", "64x32", "1,4,2,3,1", "12,1,1"}) {
        for (Bytes block = 1; block <= Bytes{1} << 24; block *= 4) {
          const HierarchicalFeatures features = on(nodes, block, collective);
          const HierarchicalChoice choice = choose_hierarchical(features, machine);
          if (!choice.level.hierarchical) continue;
          const double flat = best_flat_seconds(collective, features.least, block, machine);
          const double level =
              hierarchical_seconds(collective, features.shape, block, choice.level.leaders, machine)
                  .total();
          EXPECT_GT(flat, 1.1 * level) << name_of(collective) << " " << nodes << " " << block;
        }
      }
    }
  }
}

TEST(HierarchicalChoices, TakeOneNodeOnlyWhereItWasMeasured) {
  EXPECT_NE(choose_hierarchical(on("8", 64), {}).reason.find("has not been measured"),
            std::string::npos);
  EXPECT_TRUE(choose_hierarchical(on("8", 64), measured()).level.hierarchical);
}

TEST(HierarchicalChoices, TrustNoFlagOnCrowdedCoresThatWasNotMeasuredThere) {
  HierarchicalFeatures crowded = on("64x32", 512);
  crowded.oversubscription = 4;
  EXPECT_NE(choose_hierarchical(crowded, {}).reason.find("ranks outnumber cores"),
            std::string::npos);
  EXPECT_NE(choose_hierarchical(crowded, measured()).reason.find("more ranks share a core"),
            std::string::npos);
  NodeMachine machine = measured();
  machine.oversubscription = 4;
  EXPECT_TRUE(choose_hierarchical(crowded, machine).level.hierarchical);
  // A signal that takes a scheduler slice takes the gain as well.
  machine.signal = 1e-3;
  EXPECT_NE(choose_hierarchical(crowded, machine).reason.find("predicted speedup"),
            std::string::npos);
}

TEST(HierarchicalChoices, HoldUnevenNodesAgainstFewerRanks) {
  EXPECT_EQ(min_shape_of(*nodes_from("1,4,2,3,1")).ranks, 2);
  // Few more ranks than nodes: a flat call has no more work than the nodes.
  EXPECT_NE(
      choose_hierarchical(on("4,1,1,1,1,1", 64), measured()).reason.find("fewer than 2 ranks"),
      std::string::npos);
}

TEST(HierarchicalChoices, TakeEightLeadersAtMost) {
  NodeMachine machine;
  machine.sender_per_byte = 64 * machine.per_byte;
  EXPECT_GT(best_leaders(Collective::alltoall, {16, 32}, 65536, machine), 8);
  EXPECT_EQ(leaders_for(on("16x32", 65536, Collective::alltoall), machine), 8);
  EXPECT_EQ(leaders_for(on("16x32", std::nullopt, Collective::alltoallv), machine), 1);
}

TEST(NodeMachines, AreWrittenBesideAMachine) {
  Machine machine;
  machine.latency = 5e-6;
  NodeMachine nodes = measured();
  nodes.signal = 3e-7;
  const std::string text = to_text(machine, nodes);
  EXPECT_EQ(*machine_from_text(text), machine);
  const NodeMachine read = *node_machine_from_text(text);
  EXPECT_EQ(read.latency, 5e-6);
  EXPECT_EQ(read.signal, 3e-7);
  EXPECT_EQ(read.oversubscription, 1);
  EXPECT_EQ(node_machine_from_text(to_text(machine))->oversubscription, 0)
      << "an old file has none";
}

}  // namespace
}  // namespace tutti
