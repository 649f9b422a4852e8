/// Planted faults in hierarchical programs are found.
#include <gtest/gtest.h>

#include "exhaustive/sweep/hierarchical_calls.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

/// Calls visit(call, nodes, options, programs) for valid programs of all kinds on nodes without and
/// with groups.
template <class Visit>
void for_each_case(Collective collective, Visit visit) {
  for (const char* shape : {"1,4,3", "1,4,3/2"}) {
    const Nodes nodes = *nodes_from(shape);
    for (const int chunks : {1, 3}) {
      for (const Rank root : {1, 3}) {
        const Call call = small_call(collective, nodes.p(), root);
        const HierarchicalOptions options{2, chunks, true, false};
        const std::vector<Program> programs = programs_of(call, nodes, options);
        ASSERT_EQ(fault_of(call, nodes, options, programs), "");
        visit(call, nodes, options, programs);
      }
    }
    if (!reduces(collective)) return;  // others ignore groups
  }
}

class HierarchicalFaults : public testing::TestWithParam<Collective> {};

/// The programs without the operations of `rank` for which `drop` is true.
template <class Drop>
std::vector<Program> without(std::vector<Program> programs, Rank rank, Drop drop) {
  Program& changed = programs[index(rank)];
  std::erase_if(changed.operations, drop);
  run_in_sequence(changed);
  return programs;
}

TEST_P(HierarchicalFaults, AreFoundWhereAnAwaitIsMissing) {
  for_each_case(
      GetParam(), [](const Call& call, const Nodes& nodes, const HierarchicalOptions& options,
                     const std::vector<Program>& programs) {
        // With chunks other awaits may imply one.
        if (options.chunks > 1) return;
        for (Rank rank = 0; rank < nodes.p(); ++rank) {
          for (const Operation& missing : programs[index(rank)].operations) {
            if (missing.kind != OperationKind::await) continue;
            const auto broken =
                without(programs, rank, [&](const Operation& each) { return each == missing; });
            EXPECT_NE(fault_of(call, nodes, options, broken), "")
                << "root " << call.root << ", without await of " << missing.sequence << "\n"
                << to_text(programs[index(rank)]);
          }
        }
      });
}

TEST_P(HierarchicalFaults, AreFoundWhereARankAwaitsNobody) {
  for_each_case(GetParam(), [](const Call& call, const Nodes& nodes,
                               const HierarchicalOptions& options,
                               const std::vector<Program>& programs) {
    for (Rank rank = 0; rank < nodes.p(); ++rank) {
      const auto broken = without(
          programs, rank, [](const Operation& each) { return each.kind == OperationKind::await; });
      if (broken == programs) continue;
      EXPECT_NE(fault_of(call, nodes, options, broken), "") << to_text(programs[index(rank)]);
    }
  });
}

TEST_P(HierarchicalFaults, AreFoundWhereASignalOrCopyOrCallIsMissing) {
  for_each_case(
      GetParam(), [](const Call& call, const Nodes& nodes, const HierarchicalOptions& options,
                     const std::vector<Program>& programs) {
        if (call.root == 1) return;  // one root will do
        for (Rank rank = 0; rank < nodes.p(); ++rank) {
          const auto& operations = programs[index(rank)].operations;
          for (const Operation& missing : operations) {
            const bool last = &missing == &operations.back();
            if (missing.kind == OperationKind::await) continue;
            if (missing.kind == OperationKind::signal && !last) continue;
            const auto broken =
                without(programs, rank, [&](const Operation& each) { return each == missing; });
            EXPECT_NE(fault_of(call, nodes, options, broken), "") << to_text(programs[index(rank)]);
          }
        }
      });
}

TEST_P(HierarchicalFaults, AreFoundWhereAPlaceIsWrong) {
  for_each_case(
      GetParam(), [](const Call& call, const Nodes& nodes, const HierarchicalOptions& options,
                     const std::vector<Program>& programs) {
        if (call.root == 1) return;  // one root will do
        for (Rank rank = 0; rank < nodes.p(); ++rank) {
          std::vector<Program> broken = programs;
          const auto expect_fault = [&] {
            EXPECT_NE(fault_of(call, nodes, options, broken), "") << to_text(broken[index(rank)]);
          };
          for (Operation& operation : broken[index(rank)].operations) {
            for (BufferRef* ref : {&operation.from, &operation.to}) {
              if (ref->bytes == 0) continue;
              ref->offset += call.unit;
              expect_fault();
              ref->offset -= call.unit;
            }
          }
          for (InnerCall& inner : broken[index(rank)].calls) {
            for (InnerBuffer* end : {&inner.send, &inner.receive}) {
              Bytes bytes = 0;
              for (const Bytes count : end->counts) bytes += count;
              if (bytes == 0) continue;
              end->at += call.unit;
              expect_fault();
              end->at -= call.unit;
              end->counts.front() += call.unit;
              expect_fault();
              end->counts.front() -= call.unit;
            }
          }
        }
      });
}

INSTANTIATE_TEST_SUITE_P(Levels, HierarchicalFaults, testing::ValuesIn(hierarchical_collectives),
                         [](const auto& test) { return std::string(name_of(test.param)); });

/// The fault of the programs of a call on two nodes of two ranks, after `plant(programs)`.
template <class Plant>
std::string planted(Collective collective, Plant plant, int chunks = 1) {
  const Nodes nodes = *nodes_from("2x2");
  const Call call = small_call(collective, 4, 0);
  const HierarchicalOptions options{1, chunks, true, false};
  std::vector<Program> programs = programs_of(call, nodes, options);
  plant(programs);
  return fault_of(call, nodes, options, programs);
}

/// The n-th operation of a kind.
Operation& find(Program& program, OperationKind kind, int n = 0) {
  const auto is_it = [&](const Operation& each) { return each.kind == kind && n-- == 0; };
  return *std::find_if(program.operations.begin(), program.operations.end(), is_it);
}

TEST(HierarchicalFaultsAreNamed, MissingAwait) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    // The last await of rank 1 is that of the collective between nodes.
    programs = without(std::move(programs), 1, [](const Operation& each) {
      return each.kind == OperationKind::await && each.sequence > 0;
    });
  });
  EXPECT_NE(fault.find("rank 1 operation"), std::string::npos) << fault;
  EXPECT_NE(fault.find("(call) of rank 0 may be writing"), std::string::npos) << fault;
}

TEST(HierarchicalFaultsAreNamed, MemoryReusedBeforeTheCallBeforeHasLeftIt) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    programs = without(std::move(programs), 1, [](const Operation& each) {
      return each.kind == OperationKind::await && each.sequence == 0;
    });
  });
  EXPECT_NE(fault.find("rank 1 operation 0 writes bytes"), std::string::npos) << fault;
  EXPECT_NE(fault.find("rank 0 may be using in the call before"), std::string::npos) << fault;
}

TEST(HierarchicalFaultsAreNamed, OverlappingAreas) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    find(programs[1], OperationKind::copy).to.offset -= 1;
  });
  EXPECT_NE(fault.find("operation 1 writes bytes 11 to 23 of node memory, which operation 1 (copy) "
                       "of rank 0 may be writing"),
            std::string::npos)
      << fault;
}

TEST(HierarchicalFaultsAreNamed, BytesBeyondNodeMemory) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    find(programs[1], OperationKind::copy).to.offset = programs[1].node_memory - 4;
  });
  EXPECT_NE(fault.find("of node memory, which has"), std::string::npos) << fault;
}

TEST(HierarchicalFaultsAreNamed, APartOfAnElementIsCombined) {
  const std::string fault = planted(Collective::allreduce, [](std::vector<Program>& programs) {
    Operation& reduce = find(programs[1], OperationKind::reduce);
    for (BufferRef* ref : {&reduce.from, &reduce.to}) {
      ref->offset += 1;
      ref->bytes -= 2;
    }
  });
  EXPECT_NE(fault.find("combines a part of an element"), std::string::npos) << fault;
}

TEST(HierarchicalFaultsAreNamed, ABlockInPlaceIsOverwritten) {
  const Nodes nodes = *nodes_from("2x2");
  const Call call = small_call(Collective::allgather, 4, 0);
  HierarchicalOptions options{1, 1, true, false, true};
  std::vector<Program> programs = programs_of(call, nodes, options);
  ASSERT_EQ(fault_of(call, nodes, options, programs), "");
  // The copy of the block before its own one takes that one too.
  Operation& copy = find(programs[1], OperationKind::copy, 1);
  for (BufferRef* ref : {&copy.from, &copy.to}) ref->bytes += 12;
  const std::string fault = fault_of(call, nodes, options, programs);
  EXPECT_NE(fault.find("of the receive buffer, which are not the place of a result"),
            std::string::npos)
      << fault;
}

void finds(const std::string& fault, const char* text) {
  EXPECT_NE(fault.find(text), std::string::npos) << fault;
}

/// The fault of an allgather after `change(call)` of the only call of node 1.
template <class Change>
std::string changed(Change change) {
  return planted(Collective::allgather,
                 [&](std::vector<Program>& programs) { change(programs[2].calls[0]); });
}

TEST(HierarchicalFaultsAreNamed, MembersThatDisagree) {
  finds(changed([](InnerCall& call) { call.collective = Collective::alltoall; }), "disagree");
  finds(changed([](InnerCall& call) { call.lane = 1; }), "lead lane 1");
  finds(changed([](InnerCall& call) { call.send.counts[0] = 20; }),
        "node 1 sends 20 bytes to node 0, which receives 24");
  finds(planted(Collective::bcast,
                [](std::vector<Program>& programs) { programs[2].calls[0].send.at += 2; }),
        "a bcast has one buffer");
  finds(planted(Collective::allreduce,
                [](std::vector<Program>& programs) { programs[2].calls[0].send.counts[0] -= 2; }),
        "members' counts differ");
  finds(
      planted(Collective::allgather, [](std::vector<Program>& programs) { programs[1].lanes = 2; }),
      "rank 1 operation 0 has other lanes than rank 0");
}

TEST(HierarchicalFaultsAreNamed, CallsThatNoFunctionOfTheMpiMakes) {
  finds(changed([](InnerCall& call) { call.receive.displacements.back() += 2; }),
        "a call without displacements has blocks apart");
  finds(changed([](InnerCall& call) { call.receive.displacements.pop_back(); }),
        "has a count without a displacement");
  finds(changed([](InnerCall& call) {
          call.receive.counts.pop_back();
          call.receive.displacements.pop_back();
        }),
        "a count is missing");
  finds(planted(Collective::allgather,
                [](std::vector<Program>& programs) {
                  find(programs[2], OperationKind::call).call = 1;
                }),
        "makes a call that its program lacks");
  // The nodes bring 96 and 48 bytes.
  finds(planted(Collective::allgatherv,
                [](std::vector<Program>& programs) {
                  for (Program& one : programs) {
                    for (InnerCall& call : one.calls) call.collective = Collective::allgather;
                  }
                }),
        "a regular call has unequal counts");
}

TEST(HierarchicalFaultsAreNamed, ARankThatIsNotOnTheNode) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    find(programs[1], OperationKind::await).last = 3;
  });
  EXPECT_NE(fault.find("awaits a rank that its node lacks"), std::string::npos) << fault;
}

TEST(HierarchicalFaultsAreNamed, SignalsThatNeverComeOrDoNotGrow) {
  const std::string missing = planted(Collective::allgather, [](std::vector<Program>& programs) {
    find(programs[1], OperationKind::await, 1).sequence = 1000;
  });
  EXPECT_NE(missing.find("(await) never completes"), std::string::npos) << missing;
  const std::string shrinks = planted(Collective::allgather, [](std::vector<Program>& programs) {
    find(programs[0], OperationKind::signal, 1).sequence = 1;
  });
  EXPECT_NE(shrinks.find("signals no more than before"), std::string::npos) << shrinks;
  const std::string ends = planted(Collective::allgather, [](std::vector<Program>& programs) {
    programs[1].operations.back().sequence += 1;
  });
  EXPECT_NE(ends.find("does not end the call by the signal"), std::string::npos) << ends;
}

TEST(HierarchicalFaultsAreNamed, ABarrierThatARankLeavesTooEarly) {
  const auto awaits = [](const Operation& each) { return each.kind == OperationKind::await; };
  finds(planted(Collective::barrier,
                [&](std::vector<Program>& programs) {
                  programs = without(std::move(programs), 3, awaits);
                }),
        "rank 3 leaves though rank 0 may not have entered");
  finds(planted(Collective::barrier,
                [&](std::vector<Program>& programs) {
                  programs = without(std::move(programs), 2, awaits);
                }),
        "rank 0 leaves though rank 3 may not have entered");
}

TEST(HierarchicalFaultsAreNamed, OperationsOutOfSequence) {
  const std::string fault = planted(Collective::allgather, [](std::vector<Program>& programs) {
    programs[1].operations[1].last_need = programs[1].operations[1].first_need;
  });
  EXPECT_NE(fault.find("operation 1 does not need the one before"), std::string::npos) << fault;
}

}  // namespace
}  // namespace tutti
