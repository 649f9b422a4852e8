/// Tests hierarchical programs: their numbers, and what they do without.
#include <gtest/gtest.h>

#include <limits>

#include "exhaustive/sweep/hierarchical_calls.hpp"
#include "protocols/arrival_agreement.hpp"
#include "sweep/check.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

// Two nodes of two ranks, an alltoall of 5 bytes. Flat, each rank sends 2 messages to the other
// node, 8 in all; through node memory each leader sends one of 4 blocks.
TEST(HierarchicalPrograms, SendOneMessageToANodeWhereRanksWouldSendMany) {
  const Nodes nodes = *nodes_from("2x2");
  const Call call{Collective::alltoall, 0, {5, 5, 5, 5}};
  const std::vector<Program> programs = programs_of(call, nodes, {});
  const std::vector<Call> inner = inner_calls(programs, nodes, 1);
  ASSERT_EQ(inner.size(), 1u);
  EXPECT_EQ(inner[0].collective, Collective::alltoall);
  EXPECT_EQ(inner[0].sizes, (std::vector<Bytes>{20, 20}));
  EXPECT_TRUE(programs[1].calls.empty());
  EXPECT_EQ(programs[0].node_memory, 128);  // 4 blocks for 2 nodes both ways, on lines of 64 bytes
}

TEST(HierarchicalPrograms, OfOneRankOnEachNodeAreTheInnerCollectiveAlone) {
  const Nodes nodes = *nodes_from("5x1");
  for (const Collective collective : hierarchical_collectives) {
    HierarchicalOptions options;
    options.direct = true;
    const Call call = small_call(collective, 5, 2);
    const std::vector<Program> programs = programs_of(call, nodes, options);
    for (const Program& program : programs) {
      ASSERT_EQ(program.operations.size(), 2u) << to_text(program);
      EXPECT_EQ(program.operations[0].kind, OperationKind::call);
      EXPECT_EQ(program.operations[1].kind, OperationKind::signal);
    }
  }
}

// Ranks 0 and 10 use their own buffers directly, by two lanes, in any collective. A reduce_scatter
// has no displacements, so two lanes would need scattered buffers.
TEST(HierarchicalPrograms, CopyNothingWhereARankIsAloneOnItsNode) {
  const Nodes nodes = *nodes_from("1,4,2,3,1");
  for (const Collective collective : hierarchical_collectives) {
    for (const Rank root : {0, 3}) {
      const Call call = small_call(collective, nodes.p(), root);
      const bool scatters_sums = reduces(collective) && block_kind(collective) == BlockKind::ranks;
      const HierarchicalOptions options{scatters_sums ? 1 : 2, 1, true, true};
      const std::vector<Program> programs = programs_of(call, nodes, options);
      EXPECT_EQ(fault_of(call, nodes, options, programs), "");
      for (const Rank alone : {0, 10}) {
        const Program& program = programs[index(alone)];
        EXPECT_EQ(program.node_memory, 0) << to_text(program);
        for (const Operation& operation : program.operations) {
          const bool is_last = &operation == &program.operations.back();
          EXPECT_EQ(operation.kind, is_last ? OperationKind::signal : OperationKind::call)
              << to_text(program);
        }
      }
    }
  }
}

TEST(HierarchicalPrograms, OfOneNodeCallNobody) {
  for (const Collective collective : hierarchical_collectives) {
    for (const Program& program : programs_of(small_call(collective, 4, 2), *nodes_from("4"), {})) {
      EXPECT_TRUE(program.calls.empty());
    }
  }
}

TEST(HierarchicalPrograms, StayWithinTheBoundOnNodeMemory) {
  const Nodes nodes = *nodes_from("3,2,4:round_robin");
  for (const Collective collective : hierarchical_collectives) {
    if (collective == Collective::barrier) continue;
    Call call = small_call(collective, nodes.p(), 1);
    for (Bytes& bytes : call.sizes) bytes *= 1000;
    HierarchicalOptions options{2, 1, true, false};
    EXPECT_EQ(*agreed_chunks(call, nodes, options, 1 << 30), 1);
    options.chunks = *agreed_chunks(call, nodes, options, 20000);
    EXPECT_GT(options.chunks, 1) << name_of(collective);
    for (const Program& program : programs_of(call, nodes, options)) {
      EXPECT_LE(program.node_memory, 20000) << name_of(collective);
    }
  }
}

// Bytes one by one, three times as many as an int counts.
TEST(HierarchicalPrograms, CountInAnIntWithinTheMostNodeMemory) {
  const Nodes nodes = *nodes_from("3,1,2");
  const auto is_counted = [](Bytes number) {
    return number >= 0 && number <= std::numeric_limits<int>::max();
  };
  for (const Collective collective : hierarchical_collectives) {
    if (collective == Collective::barrier) continue;
    Call call = small_call(collective, nodes.p(), 1);
    call.unit = 1;
    for (Bytes& bytes : call.sizes) bytes = bytes * (Bytes{6} << 30) / 12;
    HierarchicalOptions options{2, 1, true, true};
    options.chunks = *agreed_chunks(call, nodes, options, max_node_memory);
    for (const Program& program : programs_of(call, nodes, options)) {
      for (const Operation& operation : program.operations) {
        EXPECT_TRUE(is_counted(operation.to.bytes)) << name_of(collective);
      }
      for (const InnerCall& inner : program.calls) {
        for (const InnerBuffer* end : {&inner.send, &inner.receive}) {
          for (std::size_t i = 0; i < end->counts.size(); ++i) {
            EXPECT_TRUE(is_counted(end->counts[i] + end->displacements[i])) << name_of(collective);
          }
        }
      }
    }
  }
}

/// Checks that programs take no more node memory than each of the bounds from `least` to below
/// `most`, in chunks. Returns the number of bounds that the call can keep.
int check_memory(const Call& call, const Nodes& nodes, Bytes least, Bytes most) {
  int checked = 0;
  HierarchicalOptions options{2, 1, true, false};
  for (Bytes bound = least; bound < most; bound += 64) {
    const Result<int> chunks = agreed_chunks(call, nodes, options, bound);
    if (!chunks) continue;
    ++checked;
    options.chunks = *chunks;
    for (const Program& program : programs_of(call, nodes, options)) {
      EXPECT_LE(program.node_memory, bound) << name_of(call.collective) << " " << *chunks;
    }
  }
  return checked;
}

// One node proposes one chunk, another one more: memory for parts of 8 and 9 of 17 bytes, twice, is
// more than that for the whole.
TEST(HierarchicalPrograms, OfUnlikeNodesStayWithinTheBoundOnNodeMemory) {
  const Nodes nodes = *nodes_from("3,5,4");
  for (const Collective collective :
       {Collective::alltoallv, Collective::gatherv, Collective::scatterv}) {
    int checked = 0;
    for (const Bytes most : {17, 20, 34, 60, 500}) {
      Call call = small_call(collective, nodes.p(), 4);
      std::fill(call.sizes.begin(), call.sizes.end(), 17);
      const auto p = index(nodes.p());
      for (Rank rank = 8; rank < 12; ++rank) {
        for (Rank to = 8; to < 12 && call.sizes.size() > p; ++to) {
          call.sizes[index(rank) * p + index(to)] = most;
        }
        if (call.sizes.size() == p) call.sizes[index(rank)] = most;
      }
      SCOPED_TRACE(most);
      checked += check_memory(call, nodes, 400, 8000);
    }
    EXPECT_GT(checked, 0) << name_of(collective);
  }
}

// Every rank knows all sizes. Of nodes with equally many ranks the fullest one decides.
TEST(HierarchicalPrograms, OfUnlikeBlocksStayWithinTheBoundOnNodeMemory) {
  const Nodes nodes = *nodes_from("3x2,2x1,3:round_robin");
  for (const Collective collective : {Collective::allgatherv, Collective::reduce_scatter}) {
    int checked = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Call call = small_call(collective, nodes.p(), 0);
      call.sizes = distribute(Distribution::random, nodes.p(), 50, seed);
      for (Bytes& bytes : call.sizes) bytes *= call.unit;
      SCOPED_TRACE(seed);
      checked += check_memory(call, nodes, 256, 4096);
    }
    EXPECT_GT(checked, 0) << name_of(collective);
  }
}

// To lay out all 262,144 blocks for each of 65,536 nodes would take many minutes.
/// All ranks have to tell alike whether the memory of every node holds a call.
TEST(HierarchicalPrograms, NeedAtMostTheMemoryOfTheFullestNodes) {
  for (const char* text : {"5x1", "3x4", "1,4,2,3,1", "2,4,4,1,2", "7", "1,6"}) {
    const Nodes nodes = *nodes_from(text);
    for (Collective collective : hierarchical_collectives) {
      if (collective == Collective::alltoallv) collective = Collective::alltoall;
      for (const Rank root : {0, nodes.p() - 1}) {
        for (const int leaders : {1, 2, 4}) {
          HierarchicalProblem call;
          call.collective = collective;
          call.root = root;
          call.leaders = leaders;
          call.sizes.each = 1000;
          if (is_irregular(collective)) call.sizes.by_rank.assign(index(nodes.p()), 1000);
          Bytes most = 0;
          for (int node = 0; node < nodes.count(); ++node) {
            most = std::max(most, hierarchical_memory(call, nodes, node));
          }
          EXPECT_EQ(hierarchical_memory(call, nodes), most)
              << name_of(collective) << " on " << text << ", root " << root << ", " << leaders;
        }
      }
    }
  }
}

TEST(HierarchicalPrograms, FindTheChunksOfManyNodesInLinearTime) {
  const Nodes nodes = Nodes::consecutive(std::vector<int>(65536, 4));
  HierarchicalProblem call;
  call.collective = Collective::allgatherv;
  call.sizes.by_rank.assign(index(nodes.p()), 100);
  EXPECT_EQ(chunks_for(call, nodes, 0, max_node_memory), 1);
  EXPECT_FALSE(chunks_for(call, nodes, 0, Bytes{1} << 20));  // each has an operation for each block
  const Nodes fewer = Nodes::consecutive(std::vector<int>(256, 4));
  call.sizes.by_rank.resize(index(fewer.p()));
  EXPECT_EQ(chunks_for(call, fewer, 0, Bytes{1} << 12), 100);  // one byte of each block
}

TEST(HierarchicalPrograms, RefuseWhatWouldNeedTooManyOperations) {
  const Nodes nodes = Nodes::consecutive(std::vector<int>(4, 128));
  const auto chunks = [&](Collective collective, Bytes block) {
    HierarchicalProblem call;
    call.collective = collective;
    call.sizes.each = block;
    const auto found = chunks_for(call, nodes, 0, Bytes{64} << 20);
    if (found) {
      call.chunks = *found;
      const Program program = *hierarchical_program(call, nodes, 1);
      EXPECT_LE(static_cast<Bytes>(program.operations.size()), max_operations) << block;
    }
    return found;
  };
  EXPECT_GT(chunks(Collective::alltoall, Bytes{32} << 10).value_or(0), 50);
  EXPECT_FALSE(chunks(Collective::alltoall, Bytes{1} << 20));
  EXPECT_GT(chunks(Collective::allgather, Bytes{1} << 20).value_or(0), 10);
  EXPECT_GT(chunks(Collective::bcast, Bytes{5} << 30).value_or(0), 100);
  // As many chunks as there may be.
  const Nodes pairs = *nodes_from("3x2");
  for (const Collective collective : all_collectives) {
    const bool has_data = block_kind(collective) != BlockKind::none;
    if (!can_be_hierarchical(collective) || is_irregular(collective) || !has_data) continue;
    HierarchicalProblem call;
    call.collective = collective;
    call.sizes.each = Bytes{1} << 30;
    const auto most = [&](Bytes bound) { return chunks_for(call, pairs, 0, bound); };
    Bytes bound = 1 << 10;
    while (!most(bound)) bound += bound / 2;
    call.chunks = *most(bound);
    EXPECT_GT(call.chunks, max_operations / 64) << name_of(collective);
    const Program program = *hierarchical_program(call, pairs, 0);
    EXPECT_LE(static_cast<Bytes>(program.operations.size()), max_operations)
        << name_of(collective) << " in " << call.chunks;
  }
}

TEST(HierarchicalPrograms, RefuseWhatDoesNotFitElementByElement) {
  const Nodes nodes = *nodes_from("3,5,4");
  const auto refused =
      agreed_chunks(small_call(Collective::alltoall, nodes.p(), 0), nodes, {1, 1, true, false}, 64);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "runs flat because 64 bytes of node memory are too few for the call");
}

TEST(HierarchicalPrograms, RefuseWhatWouldBreakTheOrderOfAnOperation) {
  const HierarchicalOptions ordered{1, 1, false, false};
  const Call call = small_call(Collective::allreduce, 4, 0);
  EXPECT_TRUE(hierarchical_programs(call, *nodes_from("2x2"), ordered));
  const auto refused = hierarchical_programs(call, *nodes_from("2x2:round_robin"), ordered);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("runs flat"), std::string::npos);
  EXPECT_TRUE(hierarchical_programs(call, *nodes_from("4x1:round_robin"), ordered));
}

// A gatherv of irregular blocks, through node memory, between nodes in order of arrival.
TEST(HierarchicalPrograms, ComposeWithArrivalsAndIrregularSizes) {
  const Nodes nodes = *nodes_from("1,4,2,3,1:round_robin");
  Call call = small_call(Collective::gatherv, nodes.p(), 4);
  const std::vector<double> arrivals = {9, 0, 0, 7, 0, 1, 0, 0, 0, 0, 0};
  const HierarchicalOptions options{2, 1, true, false};
  const std::vector<Program> programs = programs_of(call, nodes, options);
  EXPECT_EQ(fault_of(call, nodes, options, programs), "");
  ArrivalEpoch expected;
  expected.arrivals = arrivals;
  const ArrivalEpoch between = epoch_between(expected, nodes);
  const std::vector<double>& arrived = between.arrivals;
  EXPECT_EQ(arrived, (std::vector<double>{9, 1, 0, 7, 0}));
  EXPECT_EQ(between.ranking, (std::vector<double>{4, 2, 0, 3, 1}));
  ProgramVerifier verifier;
  for (Call inner : inner_calls(programs, nodes, 1)) {
    EXPECT_EQ(inner.root, 4);
    inner.arrivals = arrived;
    const Specification spec =
        *specification(inner.collective, "linear_sequence:order=arrival,runner=background");
    const Problems problems(spec, inner);
    EXPECT_EQ(problems.order().rank_at(1), 2);  // the first complete node comes first
    EXPECT_EQ(problems.order().rank_at(4), 0);
    EXPECT_EQ(fault_of(verifier, spec, inner, problems, problems.schedules()), "");
  }
}

/// The bytes that reductions of all ranks combine across groups, and the ranks that they await
/// before inner calls.
struct Combining {
  Bytes between_groups = 0;
  int awaited = 0;
};

Combining combining_of(const char* shape, const char* measured_by) {
  const Nodes nodes = *nodes_from(shape);
  const Nodes groups = *nodes_from(measured_by);
  Call call = small_call(Collective::allreduce, nodes.p(), 0);
  call.sizes.assign(index(nodes.p()), 960);
  Combining sum;
  std::vector<int> group_of(index(nodes.p()));
  const auto all = groups.groups(0);
  for (std::size_t group = 0; group < all.size(); ++group) {
    for (const int local : all[group]) group_of[index(local)] = static_cast<int>(group);
  }
  const std::vector<Program> programs = programs_of(call, nodes, {1, 1, true, false});
  for (const Rank rank : nodes.ranks(0)) {
    for (const Operation& operation : programs[index(rank)].operations) {
      if (operation.kind == OperationKind::call) break;
      if (operation.kind == OperationKind::await && operation.sequence > 0)
        sum.awaited += operation.last - operation.first;
      if (operation.kind != OperationKind::reduce) continue;
      const auto owner = [&](Bytes at) { return group_of[index(static_cast<int>(at / 960))]; };
      if (owner(operation.from.offset) != owner(operation.to.offset))
        sum.between_groups += operation.to.bytes;
    }
  }
  return sum;
}

// Eight vectors in two groups. Without groups four of them meet the last one, which is in the other
// group; with groups they are one by then. A rank awaits the three others of its group, itself and
// one rank of each group, instead of all eight; then the leader of node 0 awaits all eight, and the
// others the leader.
TEST(HierarchicalPrograms, CombineInGroupsFirst) {
  EXPECT_EQ(combining_of("8,1", "8,1/4").between_groups, 4 * 960);
  EXPECT_EQ(combining_of("8,1/4", "8,1/4").between_groups, 960);
  EXPECT_LT(combining_of("8,1/4", "8,1/4").awaited, combining_of("8,1", "8,1/4").awaited);
}

TEST(HierarchicalPrograms, LeaveGroupsThatBringNothingAlone) {
  const Call call = small_call(Collective::reduce_scatter, 7, 0);
  const auto programs = [&](const char* shape, bool commutative) {
    return *hierarchical_programs(call, *nodes_from(shape), {2, 1, commutative, false});
  };
  EXPECT_EQ(programs("5,2/1", true), programs("5,2", true));
  EXPECT_EQ(programs("5,2/5", true), programs("5,2", true));
  // These groups would change the order of the operation.
  EXPECT_EQ(programs("5,2/round_robin:2", false), programs("5,2", false));
  EXPECT_NE(programs("5,2/round_robin:2", true), programs("5,2", true));
  EXPECT_NE(programs("5,2/2", false), programs("5,2", false));
}

TEST(NodesFromText, TakeGroups) {
  using Groups = std::vector<std::vector<int>>;
  const Nodes nodes = *nodes_from("5,1/2");
  EXPECT_EQ(nodes.groups(0), (Groups{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(nodes.groups(1), Groups{{0}});
  EXPECT_EQ(nodes_from("4:round_robin/round_robin:2")->groups(0), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(nodes_from("3")->groups(0), (Groups{{0, 1, 2}}));
  // One rank may run anywhere: its node is one group.
  const std::vector<int> labels = {0, 0, 0, 1, 1};
  const Nodes unbound = Nodes::of(labels, std::vector{0, -1, 1, 3, 4});
  EXPECT_EQ(unbound.groups(0), (Groups{{0, 1, 2}}));
  EXPECT_EQ(unbound.groups(1), (Groups{{0}, {1}}));
  EXPECT_NE(nodes_from("4/0").error().find("invalid groups '/0'"), std::string::npos);
}

TEST(NodesFromText, AreReadAndRefused) {
  EXPECT_EQ(nodes_from("1,4,2,3,1")->p(), 11);
  EXPECT_EQ(nodes_from("8x6")->count(), 8);
  EXPECT_EQ(nodes_from("2x4,3")->size(2), 3);
  const Nodes dealt = *nodes_from("1,3:round_robin");
  EXPECT_EQ(dealt.node_of(0), 0);
  EXPECT_EQ(dealt.node_of(3), 1);
  EXPECT_TRUE(dealt.in_rank_order());
  EXPECT_FALSE(nodes_from("2x2:round_robin")->in_rank_order());
  for (const char* wrong : {"", "0", "2,", "x3", "3x", "2x2:spread", "-1", "99999999x9999"}) {
    const auto refused = nodes_from(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().find("8x6"), std::string::npos);
  }
}

}  // namespace
}  // namespace tutti
