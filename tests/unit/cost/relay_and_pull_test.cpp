/// What goes beyond Proficz 2020: relays for late ranks, and roots that serve whoever comes first.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

#include "cost/bounds.hpp"
#include "cost/simulate.hpp"
#include "lowering/lower.hpp"
#include "schedule/flow.hpp"
#include "shapes/relay.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;

/// A call of p ranks with blocks of 10 bytes, the last `late` of them at time t.
Call with_late_ranks(Collective collective, int p, int late, double t) {
  const auto ranks = static_cast<std::size_t>(p);
  Call call{collective, 0, std::vector<Bytes>(ranks, 10), 0, std::vector<double>(ranks, 0)};
  std::fill(call.arrivals.end() - late, call.arrivals.end(), t);
  return call;
}

double run_time(const std::string& name, const Call& call, const Machine& machine) {
  return simulate(schedules_of(name, call), machine, call.arrivals)->run_time();
}

TEST(RelayTree, IsATreeOfRangesWithEarlyHeads) {
  for (int p = 1; p <= 40; ++p) {
    for (int late = 0; late <= p; ++late) {
      const RelayTree tree(p, late);
      std::vector<Position> found = {0};
      for (std::size_t i = 0; i < found.size(); ++i) {
        Position at = found[i] + 1;
        BlockIndex inside = 1;
        for (const Position child : tree.children(found[i])) {
          EXPECT_EQ(tree.parent(child), found[i]);
          EXPECT_EQ(tree.depth(child), tree.depth(found[i]) + 1);
          inside += tree.subtree(child).count();
          found.push_back(child);
        }
        EXPECT_EQ(tree.subtree(found[i]), (BlockRange{at - 1, at - 1 + inside}));
      }
      std::sort(found.begin(), found.end());
      std::vector<Position> seated = tree.sequence();
      const auto heads = seated.begin() + std::max(p - 1 - late, 0);
      EXPECT_TRUE(
          std::all_of(seated.begin(), heads, [&](Position v) { return tree.depth(v) == 1; }));
      EXPECT_TRUE(
          std::all_of(heads, seated.end(), [&](Position v) { return tree.children(v).empty(); }));
      seated.push_back(0);
      std::sort(seated.begin(), seated.end());
      EXPECT_EQ(seated, found) << p << " " << late;
      EXPECT_EQ(static_cast<int>(found.size()), p);
    }
  }
}

TEST(Relay, MeetsTheLowerBoundForManyLateRanks) {
  struct Case {
    int p, late;
    double t, alpha, sorted, relayed, bound;
  };
  // beta m = 10. P = 48: 24 blocks after the last arrival become one, of 36 three.
  for (const Case& c : {Case{9, 4, 100, 2, 148, 112, 112}, Case{48, 24, 1000, 1, 1264, 1011, 1011},
                        Case{48, 36, 1000, 1, 1396, 1033, 1031}}) {
    const Call call = with_late_ranks(Collective::scatter, c.p, c.late, c.t);
    const Machine machine = {c.alpha, 1};
    EXPECT_DOUBLE_EQ(run_time("SLIN", call, machine), c.sorted);
    EXPECT_DOUBLE_EQ(run_time("relay:late=" + std::to_string(c.late), call, machine), c.relayed);
    EXPECT_DOUBLE_EQ(lower_bound(call, machine), c.bound);
  }
}

TEST(GrownByArrivals, TakesWhatStandsBehindALateRank) {
  // p = 8, root 0, rank 7 has the largest block and heads ranks 4..7, late by 300: the root takes
  // the subtrees of 5 and 6 itself while it waits.
  Call call{
      Collective::gatherv, 0, {10, 10, 10, 10, 40, 60, 50, 70}, 0, {0, 0, 0, 0, 0, 0, 0, 300}};
  const auto exit = [&](const std::string& name) { return run_time(name, call, {2, 1}); };
  call.half_performance_length = 2;
  const double as_if_together = exit("ordered_tree");
  const double by_arrivals = exit("ordered_tree:arrivals=on");
  EXPECT_LT(by_arrivals, as_if_together);
  EXPECT_DOUBLE_EQ(by_arrivals, 300 + 2 + 70);
  // All at once, nothing changes.
  call.arrivals[7] = 0;
  EXPECT_EQ(schedules_of("ordered_tree:arrivals=on", call), schedules_of("ordered_tree", call));
}

TEST(GrownByArrivals, IsFasterOnTheWhole) {
  std::mt19937_64 random(1);
  int faster = 0;
  int slower = 0;
  for (int i = 0; i < 500; ++i) {
    const int p = 4 + static_cast<int>(random() % 60);
    Call call{Collective::gatherv, static_cast<Rank>(random() % static_cast<unsigned>(p)), {}, 2};
    for (int rank = 0; rank < p; ++rank) {
      call.sizes.push_back(static_cast<Bytes>(random() % 100));
      call.arrivals.push_back(random() % 4 == 0 ? static_cast<double>(random() % 2000) : 0);
    }
    const double plain = run_time("ordered_tree", call, {2, 1});
    const double grown = run_time("ordered_tree:arrivals=on", call, {2, 1});
    faster += grown < plain ? 1 : 0;
    slower += grown > plain ? 1 : 0;
  }
  EXPECT_GT(faster, 400);
  EXPECT_LT(slower, 10);
}

TEST(Pull, NeedsNoPrediction) {
  // P = 8, m beta = 10, alpha = 2, rank 1 late by 200 and nobody knows: LIN waits for it, pull
  // serves the others, and rank 1 by a request and a block: 200 + 2 + 12.
  Call call = with_late_ranks(Collective::scatter, 8, 0, 0);
  for (const Collective collective : {Collective::scatter, Collective::gather}) {
    call.collective = collective;
    std::vector<double> actual(8, 0);
    actual[1] = 200;
    const auto exit = [&](const char* name) {
      return simulate(schedules_of(name, call), {2, 1}, actual)->run_time();
    };
    EXPECT_DOUBLE_EQ(exit("LIN"), 200 + 7 * 12);
    EXPECT_DOUBLE_EQ(exit("linear_pull"), 200 + 2 + 12);
    // All at once: seven blocks, each with a request.
    actual[1] = 0;
    EXPECT_DOUBLE_EQ(exit("linear_pull"), 7 * (2 * 2 + 10));
  }
}

TEST(Pull, KeepsNoMoreBlocksInFlightThanAsked) {
  const Call call = with_late_ranks(Collective::gather, 16, 0, 0);
  for (const int flight : {1, 2, 5, 15}) {
    const auto schedules = schedules_of("linear_pull:flight=" + std::to_string(flight), call);
    StepGraph graph;
    ASSERT_EQ(graph.build(schedules), StepGraph::none);
    Flow flow;
    flow.start(graph);
    // Requests are over at once, blocks only one by one when nothing else can be posted.
    std::deque<StepGraph::Node> blocks;
    int most = 0;
    const auto post = [&] {
      for (auto node = flow.take_posted(); node != StepGraph::none; node = flow.take_posted()) {
        const Step& step = graph.step(node);
        if (step.bytes == 0) flow.complete(node);
        if (step.bytes > 0 && step.kind == StepKind::recv) blocks.push_back(node);
      }
      most = std::max(most, static_cast<int>(blocks.size()));
    };
    for (post(); !blocks.empty(); post()) {
      flow.complete(graph.partner(blocks.front()));
      flow.complete(blocks.front());
      blocks.pop_front();
    }
    EXPECT_TRUE(flow.all_done());
    EXPECT_EQ(most, flight);
  }
}

TEST(Pull, HandsItsNeedsAndSlotsToTheExecutor) {
  const Call call = with_late_ranks(Collective::scatter, 3, 0, 0);
  const Schedule root = schedules_of("linear_pull:flight=1", call)[0];
  EXPECT_EQ(to_text(root),
            "scatter p 3 rank 0 root 0\n"
            "0 recv 1 [0,0) 0\n"
            "1 send 1 [1,2) 10 after 0 slots 1\n"
            "2 recv 2 [0,0) 0\n"
            "3 send 2 [2,3) 10 after 2 slots 1\n");
  const Problems problems(*specification(call.collective, "linear_pull:flight=1"), call);
  const Program placed = lower(root, problems.at(0), 10, {});
  const Operation& second = placed.operations[3];
  EXPECT_EQ(second.slots, 1);
  ASSERT_EQ(second.last_need - second.first_need, 1);
  EXPECT_EQ(placed.needs[static_cast<std::size_t>(second.first_need)], 2);
}

}  // namespace
}  // namespace tutti
