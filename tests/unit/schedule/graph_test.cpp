/// Pairs, needs and the sequence of posting.
#include "schedule/graph.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

/// Rank 1 forwards what it receives, after a wait for a signal.
const std::vector<Schedule>& chain() {
  static const std::vector<Schedule> schedules = [] {
    std::vector<Schedule> all;
    for (const char* text : {"gatherv p 3 rank 0 root 2\n0 send 1 [0,1) 4\n",
                             "gatherv p 3 rank 1 root 2\n"
                             "0 recv 0 [0,1) 4\n1 recv 2 [0,0) 0\n2 wait 1-2\n3 send 2 [0,2) 8\n",
                             "gatherv p 3 rank 2 root 2\n0 send 1 [0,0) 0\n1 recv 1 [0,2) 8\n"}) {
      all.push_back(*from_text(text));
    }
    return all;
  }();
  return schedules;
}

TEST(StepGraph, PairsMessagesAndFindsNeeds) {
  StepGraph graph;
  ASSERT_FALSE(graph.build(chain()));
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
  std::vector<Schedule> schedules = {
      *from_text("gather p 2 rank 0 root 0\n0 recv 1 [1,2) 4\n1 recv 1 [1,2) 4 from 4\n"),
      *from_text("gather p 2 rank 1 root 0\n0 send 0 [1,2) 4\n1 send 0 [1,2) 4 from 4\n")};
  StepGraph graph;
  ASSERT_FALSE(graph.build(schedules));
  EXPECT_EQ(graph.partner(graph.node(0, 0)), graph.node(1, 0));
  EXPECT_EQ(graph.partner(graph.node(0, 1)), graph.node(1, 1));
}

TEST(Flow, PostsWhatNeedsNothingElse) {
  StepGraph graph;
  ASSERT_FALSE(graph.build(chain()));
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
