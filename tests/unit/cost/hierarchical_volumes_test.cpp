/// The modelled copies of hierarchical calls are those of their programs.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/hierarchical_problems.hpp"
#include "cost/hierarchical_times.hpp"

namespace tutti {
namespace {

constexpr Bytes block = 960;

/// A machine on which all is free.
NodeMachine free_machine() { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}; }

/// The most bytes that one rank copies into node memory, combines there, and copies out.
struct Volume {
  Bytes in = 0;
  Bytes combined = 0;
  Bytes out = 0;
};

Volume volume_of(Collective collective, const NodeShape& shape) {
  const Nodes nodes = *nodes_from(std::to_string(shape.nodes) + "x" + std::to_string(shape.ranks));
  Call call;
  call.collective = collective;
  call.sizes.assign(static_cast<std::size_t>(nodes.p()),
                    collective == Collective::barrier ? 0 : block);
  const std::vector<Program> programs = *hierarchical_programs(call, nodes, {});
  Volume most;
  for (const Program& program : programs) {
    Volume own;
    for (const Operation& operation : program.operations) {
      const Bytes bytes = operation.to.bytes;
      if (operation.kind == OperationKind::reduce) own.combined += bytes;
      if (operation.kind != OperationKind::copy) continue;
      (operation.to.area == Area::node ? own.in : own.out) += bytes;
    }
    most = {std::max(most.in, own.in), std::max(most.combined, own.combined),
            std::max(most.out, own.out)};
  }
  return most;
}

class HierarchicalVolumes : public testing::TestWithParam<Collective> {};

TEST_P(HierarchicalVolumes, AreThoseOfThePrograms) {
  for (const NodeShape shape : {NodeShape{3, 4}, NodeShape{2, 5}, NodeShape{1, 4}}) {
    const Volume volume = volume_of(GetParam(), shape);
    NodeMachine copies = free_machine();
    copies.copy_per_byte = 1;
    const HierarchicalSeconds copied = hierarchical_seconds(GetParam(), shape, block, 1, copies);
    EXPECT_DOUBLE_EQ(copied.copies_in, static_cast<double>(volume.in));
    EXPECT_DOUBLE_EQ(copied.copies_out, static_cast<double>(volume.out));
    NodeMachine combines = free_machine();
    combines.combine_per_byte = 1;
    const HierarchicalSeconds combined =
        hierarchical_seconds(GetParam(), shape, block, 1, combines);
    EXPECT_DOUBLE_EQ(combined.copies_in, static_cast<double>(volume.combined));
  }
}

INSTANTIATE_TEST_SUITE_P(Model, HierarchicalVolumes, testing::ValuesIn(hierarchical_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace tutti
