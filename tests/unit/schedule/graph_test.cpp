/// Pairs, needs and the sequence of posting.
#include <gtest/gtest.h>

#include "schedule/flow.hpp"

namespace tutti {
namespace {

Step step_of(StepKind kind, Rank peer, BlockRange blocks, Bytes bytes, Bytes offset = 0) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  step.blocks = blocks;
  step.bytes = bytes;
  step.offset = offset;
  return step;
}

/// Rank 1 forwards what it receives, after a wait for a signal.
const std::vector<Schedule>& chain() {
  static const std::vector<Schedule> schedules = [] {
    Step wait;
    wait.kind = StepKind::wait;
    wait.first = 1;
    wait.last = 2;
    const auto gatherv = [](Rank rank, std::vector<Step> steps) {
      return Schedule{Collective::gatherv, 3, rank, 2, std::move(steps)};
    };
    return std::vector<Schedule>{
        gatherv(0, {step_of(StepKind::send, 1, {0, 1}, 4)}),
        gatherv(1, {step_of(StepKind::recv, 0, {0, 1}, 4), step_of(StepKind::recv, 2, {}, 0), wait,
                    step_of(StepKind::send, 2, {0, 2}, 8)}),
        gatherv(2, {step_of(StepKind::send, 1, {}, 0), step_of(StepKind::recv, 1, {0, 2}, 8)})};
  }();
  return schedules;
}

TEST(StepGraph, PairsMessagesAndFindsNeeds) {
  StepGraph graph;
  ASSERT_EQ(graph.build(chain()), StepGraph::none);
  EXPECT_EQ(graph.nodes(), 7);
  EXPECT_EQ(graph.partner(graph.node(0, 0)), graph.node(1, 0));
  EXPECT_EQ(graph.partner(graph.node(1, 3)), graph.node(2, 1));
  EXPECT_EQ(graph.partner(graph.node(1, 2)), StepGraph::none);
  EXPECT_EQ(graph.needs()[static_cast<std::size_t>(graph.node(1, 3))], 1);
  graph.for_each_reader(graph.node(1, 0), [&](int reader) { EXPECT_EQ(reader, graph.node(1, 3)); });
  EXPECT_EQ(graph.rank_of(graph.node(2, 1)), 2);
  EXPECT_EQ(graph.step_of(graph.node(2, 1)), 1);
}

TEST(StepGraph, PairsTheNthSendWithTheNthReceive) {
  const std::vector<Schedule> schedules = {
      {Collective::gather,
       2,
       0,
       0,
       {step_of(StepKind::recv, 1, {1, 2}, 4), step_of(StepKind::recv, 1, {1, 2}, 4, 4)}},
      {Collective::gather,
       2,
       1,
       0,
       {step_of(StepKind::send, 0, {1, 2}, 4), step_of(StepKind::send, 0, {1, 2}, 4, 4)}}};
  StepGraph graph;
  ASSERT_EQ(graph.build(schedules), StepGraph::none);
  EXPECT_EQ(graph.partner(graph.node(0, 0)), graph.node(1, 0));
  EXPECT_EQ(graph.partner(graph.node(0, 1)), graph.node(1, 1));
}

TEST(Flow, PostsWhatNeedsNothingElse) {
  StepGraph graph;
  ASSERT_EQ(graph.build(chain()), StepGraph::none);
  Flow flow;
  flow.start(graph);
  const auto posted = [&] {
    std::vector<int> nodes;
    for (int node = flow.take_posted(); node != StepGraph::none; node = flow.take_posted()) {
      nodes.push_back(node);
    }
    return nodes;
  };
  const int forward = graph.node(1, 3);
  EXPECT_EQ(posted(), (std::vector{graph.node(0, 0), graph.node(1, 0), graph.node(1, 1),
                                   graph.node(2, 0), graph.node(2, 1)}));
  EXPECT_EQ(flow.obstacle(forward), graph.node(1, 1));  // the wait before it names the signal
  flow.complete(graph.node(2, 0));
  flow.complete(graph.node(1, 1));
  EXPECT_EQ(posted(), std::vector<int>{});
  EXPECT_EQ(flow.obstacle(forward), graph.node(1, 0));  // the block that it forwards
  flow.complete(graph.node(0, 0));
  flow.complete(graph.node(1, 0));
  EXPECT_EQ(posted(), std::vector<int>{forward});
  EXPECT_EQ(flow.obstacle(forward), graph.node(2, 1));
  EXPECT_FALSE(flow.all_done());
  flow.complete(forward);
  flow.complete(graph.node(2, 1));
  EXPECT_TRUE(flow.all_done());
}

TEST(Flow, DescribesAStepThatWaitsForNoOther) {
  FlowGraph graph;
  graph.add_rank(1);
  graph.add_rank(2);
  graph.add_need(graph.node(1, 1), graph.node(1, 0));
  Flow flow;
  flow.start(graph);
  flow.complete(flow.take_posted());
  const Flaw flaw = flow.deadlock([](int node) { return "node " + std::to_string(node); });
  EXPECT_EQ(flaw.rank, 1);
  EXPECT_EQ(flaw.step, 0);
  EXPECT_EQ(flaw.text, "deadlock: it waits for no step");
}

TEST(Step, IsDescribedInWords) {
  Step step;
  step.peer = 3;
  const auto as = [&](StepKind kind) {
    step.kind = kind;
    return describe(step);
  };
  EXPECT_EQ(as(StepKind::send), "send to 3");
  EXPECT_EQ(as(StepKind::recv), "recv from 3");
  EXPECT_EQ(as(StepKind::copy), "copy");
  EXPECT_EQ(as(StepKind::reduce), "reduce from 3");
  EXPECT_EQ(as(StepKind::put), "put to 3");
  EXPECT_EQ(as(StepKind::notify), "notify to 3");
  step.last = 2;
  EXPECT_EQ(as(StepKind::wait), "wait 0-2");
}

}  // namespace
}  // namespace tutti
