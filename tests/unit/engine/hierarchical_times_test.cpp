/// Tests modelled times of hierarchical calls: closed forms against replays, bounds, and the number
/// of leaders.
#include "closed_forms/hierarchical_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "cost/simulate.hpp"
#include "cost/traffic.hpp"
#include "orders/orders.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;

/// A machine that replays know too: latency and bytes alone, with one rank on each node.
Machine plain_machine() {
  Machine machine;
  machine.latency = 3;
  machine.per_byte = 0.5;
  machine.sender_per_byte = 0.5;
  machine.node_gap = 0;
  machine.combine_per_byte = 0;
  return machine;
}

double replayed(Collective collective, const char* algorithm, int p, Bytes block) {
  Call call;
  call.collective = collective;
  call.sizes.assign(static_cast<std::size_t>(p), block);
  return simulate(schedules_of(algorithm, call), plain_machine())->run_time();
}

double flat_seconds(Collective collective, std::string_view flat, const NodeShape& shape,
                    Bytes block, const Machine& machine) {
  for (const FlatTime& time : flat_times(collective, shape, static_cast<double>(block), machine)) {
    if (time.shape == flat) return time.seconds;
  }
  ADD_FAILURE() << name_of(collective) << " has no shape " << flat;
  return 0;
}

struct Replayed {
  Collective collective;
  std::string_view shape;
  const char* algorithm;
};

constexpr Replayed replayed_cases[] = {
    {Collective::allgather, "ring", "ring"},
    {Collective::allgather, "recursive", "recursive_doubling"},
    {Collective::alltoall, "pairwise", "pairwise"},
    {Collective::alltoall, "recursive", "bruck"},
    {Collective::reduce_scatter_block, "ring", "ring"},
    {Collective::reduce_scatter_block, "recursive", "recursive_halving"},
    {Collective::reduce_scatter_block, "pairwise", "pairwise"},
    {Collective::allreduce, "recursive", "recursive_doubling"},
    {Collective::allreduce, "ring", "ring"},
    {Collective::gather, "recursive", "binomial"},
    {Collective::scatter, "recursive", "binomial"},
    {Collective::bcast, "recursive", "binomial"},
    {Collective::reduce, "recursive", "binomial"},
    {Collective::barrier, "recursive", "dissemination"},
};

TEST(HierarchicalTimes, EqualTheReplayOfTheSchedules) {
  for (const Replayed& one : replayed_cases) {
    for (const int p : {1, 2, 8, 32}) {
      const Bytes block = one.collective == Collective::barrier ? 0 : 64;
      EXPECT_NEAR(flat_seconds(one.collective, one.shape, {p, 1}, block, plain_machine()),
                  replayed(one.collective, one.algorithm, p, block), 1e-9)
          << name_of(one.collective) << " " << one.algorithm << " p " << p;
    }
  }
}

TEST(HierarchicalTimes, EqualTheReplayForAnyNumberOfRanks) {
  constexpr Replayed cases[] = {
      {Collective::allgather, "recursive", "bruck"},
      {Collective::reduce_scatter_block, "recursive", "circulant"},
      {Collective::allreduce, "recursive", "recursive_doubling"},
      {Collective::allgather, "ring", "ring"},
  };
  for (const Replayed& one : cases) {
    for (const int p : {3, 5, 11, 33, 48}) {
      EXPECT_NEAR(flat_seconds(one.collective, one.shape, {p, 1}, 64, plain_machine()),
                  replayed(one.collective, one.algorithm, p, 64), 1e-9)
          << name_of(one.collective) << " " << one.algorithm << " p " << p;
    }
  }
}

TEST(HierarchicalTimes, RoundsBetweenRanksOfSeveralNodesAreNotLocal) {
  Machine machine = plain_machine();
  machine.local_latency = machine.local_per_byte = machine.shared_per_byte = 0;
  machine.sender_per_byte = machine.per_byte = 0;
  const auto rounds = [&](int ranks) {
    const double seconds =
        flat_seconds(Collective::allreduce, "recursive", {2, ranks}, 64, machine);
    return std::lround(seconds / machine.latency);
  };
  EXPECT_EQ(rounds(32), 1);
  EXPECT_EQ(rounds(48), 2) << "at distances 16 and 32; the last ranks are folded inside nodes";
  EXPECT_EQ(rounds(24), 2);
}

/// Nodes of several ranks that share adapters in the schedules' rounds, as orders by distance see
/// them.
Fabric shared_fabric(const NodeShape& shape, const Machine& machine) {
  const int p = shape.p();
  const auto messages = [&](double bytes) {
    Distances seconds(p);
    for (Rank a = 0; a < p; ++a) {
      for (Rank b = 0; b < p; ++b) {
        const bool near = a / shape.ranks == b / shape.ranks;
        if (a != b) {
          seconds.set(a, b,
                      near ? machine.local_latency + bytes * machine.local_per_byte
                           : machine.latency + bytes * machine.sender_per_byte);
        }
      }
    }
    return seconds;
  };
  SharedLinks adapters;
  for (Rank rank = 0; rank < p; ++rank) adapters.group.push_back(rank / shape.ranks);
  adapters.latency.assign(static_cast<std::size_t>(shape.nodes), machine.latency);
  adapters.per_byte.assign(static_cast<std::size_t>(shape.nodes), machine.per_byte);
  return {Links({0, messages(0)}, {1000, messages(1000)}), {adapters}};
}

double natural_seconds(const Traffic& traffic, const NodeShape& shape, const Machine& machine) {
  std::vector<Rank> natural(static_cast<std::size_t>(shape.p()));
  std::iota(natural.begin(), natural.end(), 0);
  return rounds_seconds(traffic, shared_fabric(shape, machine), natural);
}

Traffic rounds_of(const Replayed& one, int p, Bytes block) {
  return traffic_of(*specification(one.collective, one.algorithm), p, block);
}

Machine shared_machine(double sender_per_byte) {
  Machine machine = plain_machine();
  machine.sender_per_byte = sender_per_byte;
  machine.local_latency = 1;
  machine.local_per_byte = 0.25;
  machine.shared_per_byte = 0;
  return machine;
}

TEST(HierarchicalTimes, EqualTheRoundsOfTheSchedulesOnNodesThatShareAnAdapter) {
  for (const double sender : {0.5, 1.0}) {
    const Machine machine = shared_machine(sender);
    for (const Replayed& one : replayed_cases) {
      for (const NodeShape& shape : {NodeShape{2, 4}, NodeShape{4, 4}, NodeShape{8, 2}}) {
        for (const Bytes block : {Bytes{64}, Bytes{102400}}) {
          const double rounds = natural_seconds(rounds_of(one, shape.p(), block), shape, machine);
          // In a few rounds some ranks of a node send inside it, others do not; the closed form has
          // whole rounds of either kind.
          const double error = one.shape == "pairwise" ? 0.1 : 1e-9;
          EXPECT_NEAR(flat_seconds(one.collective, one.shape, shape, block, machine) / rounds, 1,
                      error)
              << name_of(one.collective) << " " << one.algorithm << " " << shape.nodes << "x"
              << shape.ranks << " " << block;
        }
      }
    }
  }
}

/// The same rounds in each lane; leaders of a node are consecutive.
Traffic in_lanes(Traffic traffic, int lanes) {
  for (Traffic::Round& round : traffic.rounds) {
    std::vector<Traffic::Message> all;
    for (const Traffic::Message& message : round.messages) {
      for (int lane = 0; lane < lanes; ++lane) {
        all.push_back({message.from * lanes + lane, message.to * lanes + lane, message.bytes});
      }
    }
    round.messages = std::move(all);
  }
  traffic.p *= lanes;
  return traffic;
}

TEST(HierarchicalTimes, EqualTheRoundsBetweenNodesOfSeveralLeaders) {
  for (const double sender : {0.5, 1.0}) {
    const Machine machine = shared_machine(sender);
    for (const Collective collective : {Collective::allgather, Collective::alltoall}) {
      for (const NodeShape& shape : {NodeShape{2, 4}, NodeShape{4, 4}}) {
        for (const int leaders : {1, 2, 4}) {
          constexpr Bytes block = 4096;
          const Bytes nodes_block =
              block * shape.ranks * (collective == Collective::alltoall ? shape.ranks : 1);
          double least = std::numeric_limits<double>::infinity();
          for (const Replayed& one : replayed_cases) {
            if (one.collective != collective) continue;
            const Traffic lane = rounds_of(one, shape.nodes, nodes_block / leaders);
            least = std::min(
                least, natural_seconds(in_lanes(lane, leaders), {shape.nodes, leaders}, machine));
          }
          EXPECT_NEAR(hierarchical_seconds(collective, shape, block, leaders, machine).between,
                      least, 1e-9 * least)
              << name_of(collective) << " " << shape.nodes << "x" << shape.ranks << " " << leaders;
        }
      }
    }
  }
}

Machine slow_memory() {
  Machine machine = plain_machine();
  machine.local_latency = 1;
  machine.local_per_byte = 0.25;
  machine.shared_per_byte = 0.01;
  machine.copy_per_byte = 0.1;
  machine.signal = 2;
  return machine;
}

// 2 nodes of 2 ranks, alltoall of 1000 bytes: pairwise sends 2 rounds of 2 messages a node at once,
// 3 + 2 * 1000 / 2 each, and one inside. Through node memory 4000 bytes pass once; the leader
// awaits the other rank, which awaits the leader.
TEST(HierarchicalTimes, AddUpAsTheyAreSaidTo) {
  const Machine machine = slow_memory();
  EXPECT_DOUBLE_EQ(flat_seconds(Collective::alltoall, "pairwise", {2, 2}, 1000, machine),
                   2 * (3 + 1000) + 1 + 250);
  const HierarchicalSeconds level =
      hierarchical_seconds(Collective::alltoall, {2, 2}, 1000, 1, machine);
  EXPECT_DOUBLE_EQ(level.copies_in, 4000 * 0.1);
  EXPECT_DOUBLE_EQ(level.between, 3 + 4000 * 0.5);
  EXPECT_DOUBLE_EQ(level.copies_out, 4000 * 0.1);
  EXPECT_DOUBLE_EQ(level.signals, 2 * 2.0);
  EXPECT_DOUBLE_EQ(level.total(), 400 + 2003 + 400 + 4);
}

// The root alone sends or receives: its own gap separates the messages, or their bytes on its link.
TEST(HierarchicalTimes, OfAStarAreOneGapOfTheRootAMessage) {
  Machine machine;
  machine.per_byte = machine.sender_per_byte = 0;
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    for (const int p : {2, 3, 64}) {
      const Call call{collective, 0, std::vector<Bytes>(static_cast<std::size_t>(p), 8)};
      EXPECT_NEAR(flat_seconds(collective, "pairwise", {p, 1}, 8, machine),
                  *price(schedules_of("linear", call), machine, PriceModel::loggp), 1e-12);
    }
    const Machine common;  // latency 2 us, gap 0.8 us, 4e-10 s/B of a sender
    EXPECT_NEAR(flat_seconds(collective, "pairwise", {64, 1}, 8, common),
                2e-6 + 62 * 0.8e-6 + 8 * 4e-10, 1e-12);
    EXPECT_NEAR(flat_seconds(collective, "pairwise", {64, 1}, 8000, common), 2e-6 + 63 * 3.2e-6,
                1e-12);
    // 31 messages in the node: latency 0.5 us, one overhead of 0.4 us apart.
    EXPECT_NEAR(flat_seconds(collective, "pairwise", {1, 32}, 8, common),
                0.5e-6 + 30 * 0.4e-6 + 8 * 2e-10, 1e-12);
  }
}

TEST(HierarchicalTimes, SmallBlocksOfManyNodesAreGatheredAlongATree) {
  const auto seconds = [](std::string_view shape, Bytes block) {
    return flat_seconds(Collective::gather, shape, {64, 1}, block, {});
  };
  EXPECT_LT(seconds("recursive", 8), seconds("pairwise", 8));
}

// 40 nodes of 2 ranks: 78 messages to other nodes in 3 batches of 32, each as long as its gap or
// both ranks' bytes; one inside its node.
TEST(HierarchicalTimes, ScatteredExchangesWaitForALatencyInEachBatch) {
  Machine machine = slow_memory();
  machine.gap = 7;
  const auto seconds = [&](Bytes block) {
    return flat_seconds(Collective::alltoallv, "scattered", {40, 2}, block, machine);
  };
  EXPECT_DOUBLE_EQ(seconds(4), 3 * 3 + 78 * 7 + 1 + 4 * 0.25);
  EXPECT_DOUBLE_EQ(seconds(1000), 3 * 3 + 78 * 1000 + 1 + 1000 * 0.25);
}

TEST(HierarchicalTimes, TakeSeveralSendersWhereOneCannotFillTheAdapter) {
  Machine machine;
  machine.sender_per_byte = 4 * machine.per_byte;
  EXPECT_EQ(best_leaders(Collective::alltoall, {16, 32}, 65536, machine), 4);
  machine.sender_per_byte = machine.per_byte;
  EXPECT_EQ(best_leaders(Collective::alltoall, {16, 32}, 65536, machine), 1);
}

TEST(Machine, ReadsTheFormerNameOfItsSignal) {
  EXPECT_EQ(machine_from_text("flag 3e-7")->signal, 3e-7);
  const auto refused = machine_from_text("flag -1");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("flag from 1e-10 to 1"), std::string::npos);
}

}  // namespace
}  // namespace tutti
