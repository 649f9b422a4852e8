/// Who holds what before and after, in each collective.
#include "verify/contract.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

std::vector<Block> blocks_of(const BlockSeries& series) {
  std::vector<Block> blocks;
  for (int i = 0; i < series.count; ++i) blocks.push_back(series[i]);
  return blocks;
}

using BlockList = std::vector<Block>;

TEST(Contract, SaysWhoHoldsWhat) {
  struct Row {
    Collective collective;
    BlockList before_root, before_other;  // of ranks 1 and 2; p = 3, root 1, 2 parts
    BlockList after_root, after_other;
  };
  const std::vector<Row> rows = {
      {Collective::gatherv, {1}, {2}, {0, 1, 2}, {}},
      {Collective::scatter, {0, 1, 2}, {}, {1}, {2}},
      {Collective::bcast, {0, 1}, {}, {0, 1}, {0, 1}},
      {Collective::allgatherv, {1}, {2}, {0, 1, 2}, {0, 1, 2}},
      {Collective::alltoall, {3, 4, 5}, {6, 7, 8}, {1, 4, 7}, {2, 5, 8}},
      {Collective::reduce, {0, 1}, {0, 1}, {0, 1}, {}},
      {Collective::allreduce, {0, 1}, {0, 1}, {0, 1}, {0, 1}},
      {Collective::reduce_scatter, {0, 1, 2}, {0, 1, 2}, {1}, {2}},
      {Collective::scan, {0, 1}, {0, 1}, {0, 1}, {0, 1}},
      {Collective::barrier, {}, {}, {}, {}},
  };
  for (const Row& row : rows) {
    const Contract contract{row.collective, 3, 1, 2};
    EXPECT_EQ(blocks_of(contract.before(1)), row.before_root) << name_of(row.collective);
    EXPECT_EQ(blocks_of(contract.before(2)), row.before_other) << name_of(row.collective);
    EXPECT_EQ(blocks_of(contract.after(1)), row.after_root) << name_of(row.collective);
    EXPECT_EQ(blocks_of(contract.after(2)), row.after_other) << name_of(row.collective);
  }
}

TEST(Contract, OfAScanCombinesTheRanksUpToEach) {
  for (Rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(contributors(Collective::scan, 3, rank), rank + 1);
    EXPECT_EQ(contributors(Collective::exscan, 3, rank), rank);
    EXPECT_EQ(contributors(Collective::allreduce, 3, rank), 3);
    EXPECT_EQ((Contract{Collective::exscan, 3, 0, 2}.after(rank).count), rank > 0 ? 2 : 0);
  }
}

// What is read backwards: a gather is a scatter, an allgather a reduce_scatter, a bcast a reduce.
TEST(Contract, OfOneIsThatOfTheOtherReadBackwards) {
  for (const auto& [one, other] : {std::pair(Collective::gather, Collective::scatter),
                                   std::pair(Collective::allgather, Collective::reduce_scatter),
                                   std::pair(Collective::bcast, Collective::reduce)}) {
    for (Rank rank = 0; rank < 5; ++rank) {
      const Contract forwards{one, 5, 3, 4};
      const Contract backwards{other, 5, 3, 4};
      EXPECT_EQ(blocks_of(forwards.before(rank)), blocks_of(backwards.after(rank)));
      EXPECT_EQ(blocks_of(forwards.after(rank)), blocks_of(backwards.before(rank)));
    }
  }
}

TEST(Contract, CountsBlocksByTheirKind) {
  EXPECT_EQ((Contract{Collective::allgather, 7, 0}).blocks(), 7);
  EXPECT_EQ((Contract{Collective::alltoallv, 7, 0}).blocks(), 49);
  EXPECT_EQ((Contract{Collective::allreduce, 7, 0, 3}).blocks(), 3);
  EXPECT_EQ((Contract{Collective::barrier, 7, 0}).blocks(), 0);
}

}  // namespace
}  // namespace tutti
