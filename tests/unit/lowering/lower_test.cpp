/// Programs of many ranks, and how few operations they have.
#include "lowering/lower.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/problems.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

/// The program of `rank` of p ranks with a vector, or blocks, of 8 bytes per rank.
Program program_of(const char* algorithm, Collective collective, int p, Rank rank) {
  const Specification specification = testing_support::spec_of(collective, algorithm);
  Problem problem;
  problem.collective = collective;
  problem.p = p;
  problem.rank = rank;
  problem.order = Order::rotated(p, 3);
  problem.sizes =
      block_kind(collective) == BlockKind::parts ? Sizes::parts(p, 8, 1) : Sizes::equal(8);
  return lower(schedule_of(specification, problem), problem, 8, {.swaps = true});
}

// With 2^28 ranks, a table with an entry for each block would take gigabytes.
TEST(Lowering, OfLogarithmicallyManyMessagesKeepsRangesOfBlocks) {
  constexpr int log_p = 28;
  constexpr int p = 1 << log_p;
  for (const char* algorithm : {"halving_doubling", "bine", "circulant"}) {
    const Program program = program_of(algorithm, Collective::allreduce, p, p / 3);
    // log p exchanges, combinations and exchanges again; circular ranges take 2 copies each.
    EXPECT_LE(program.operations.size(), 7U * log_p) << algorithm;
    EXPECT_LE(program.needs.size(), std::size_t{log_p} * log_p) << algorithm;
  }
  for (const char* algorithm : {"recursive_doubling", "bine", "bruck", "circulant"}) {
    const Program program = program_of(algorithm, Collective::allgather, p, p / 3);
    EXPECT_LE(program.operations.size(), 2U * log_p + 1) << algorithm;
    EXPECT_EQ(program.scratch, 0) << algorithm;
  }
}

TEST(Lowering, OfReduceScatterNeedsNoCopyPerBlock) {
  constexpr int log_p = 16;
  for (const char* algorithm : {"recursive_halving", "bine", "circulant"}) {
    const Program program =
        program_of(algorithm, Collective::reduce_scatter_block, 1 << log_p, 40001);
    EXPECT_LE(program.operations.size(), 7U * log_p) << algorithm;
  }
}

std::size_t bytes_of(const Program& program) {
  return program.operations.size() * sizeof(Operation) +
         program.needs.size() * sizeof(program.needs[0]);
}

// What every algorithm of the list with O(log p) messages takes; an alltoall's have O(p) blocks.
TEST(Lowering, OfLogarithmicallyManyMessagesIsOfLogarithmicSize) {
  int found = 0;
  for (const Algorithm& algorithm : all_algorithms()) {
    const bool has_pairs = block_kind(algorithm.collective) == BlockKind::pairs;
    const bool needs_tree =
        algorithm.shape == Shape::arrivals || algorithm.knowledge == Knowledge::tree_neighbours;
    if (is_one_sided(algorithm.collective) || has_pairs || needs_tree) continue;
    const auto program = [&](int log_p) {
      return program_of(algorithm.name.data(), algorithm.collective, 1 << log_p, (1 << log_p) / 3);
    };
    if (program(10).operations.size() > 100) continue;
    ++found;
    EXPECT_LE(bytes_of(program(16)), std::size_t{16} * 2048)
        << name_of(algorithm.collective) << " " << algorithm.name;
  }
  EXPECT_GT(found, 50);
}

/// The operations of a kind of all ranks of a call.
long operations(const char* algorithm, const Call& call, OperationKind kind,
                const BufferTraits& traits) {
  const Problems problems(testing_support::spec_of(call.collective, algorithm), call);
  long count = 0;
  for (Rank rank = 0; rank < call.p(); ++rank) {
    BufferTraits mine = traits;
    mine.packs_blocks = traits.packs_blocks && rank == call.root;
    const Program program = lower(problems.schedule(rank), problems.at(rank),
                                  call.sizes[static_cast<std::size_t>(rank)], mine);
    count += std::count_if(program.operations.begin(), program.operations.end(),
                           [kind](const Operation& each) { return each.kind == kind; });
  }
  return count;
}

TEST(Lowering, OfGathersCopiesOnlyTheOwnBlock) {
  const Call call{Collective::gather, 0, std::vector<Bytes>(8, 10), 0};
  // Ranks 2, 4 and 6 forward, and the root has its own block; the others send from the caller's
  // buffer.
  EXPECT_EQ(operations("binomial", call, OperationKind::copy, {}), 4);
  EXPECT_EQ(operations("linear", call, OperationKind::copy, {}), 1);
  // The root unpacks {2 3} and {4 5 6 7}, and receives {1} where it belongs.
  EXPECT_EQ(operations("binomial", call, OperationKind::copy, {.packs_blocks = true}), 6);
}

TEST(Lowering, OfSegmentsPacksABlockOnce) {
  const Call call{Collective::gather, 0, std::vector<Bytes>(3, 10), 0};
  // Two leaves whose datatype is not contiguous, and the root's own block.
  EXPECT_EQ(operations("linear_sync:segment=4", call, OperationKind::send, {}), 6);
  EXPECT_EQ(
      operations("linear_sync:segment=4", call, OperationKind::copy, {.send_contiguous = false}),
      3);
}

TEST(Lowering, OfScattersForwardsFromWhereItReceives) {
  const Call call{Collective::scatter, 0, std::vector<Bytes>(8, 10), 0};
  EXPECT_EQ(operations("binomial", call, OperationKind::copy, {}), 4);
  // Ranks with odd numbers receive only their own block.
  Call only_own = call;
  only_own.collective = Collective::scatterv;
  only_own.sizes = {10, 10, 10, 0, 10, 0, 0, 0};
  // Rank 4 would forward nothing, rank 2 neither: both receive where the caller wants the block.
  EXPECT_EQ(operations("binomial", only_own, OperationKind::copy, {}), 1);
}

}  // namespace
}  // namespace tutti
