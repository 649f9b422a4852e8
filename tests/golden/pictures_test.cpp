/// The pictures in the comments of the sources are what the code does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "algorithms/problems.hpp"
#include "golden/tree_text.hpp"
#include "shapes/bine.hpp"
#include "shapes/knomial.hpp"
#include "shapes/relay.hpp"

namespace tutti {
namespace {

/// The lines of a comment below the first one that begins with `title`, without indentation.
std::string profile_in(const std::string& file, const std::string& title) {
  const auto path = std::filesystem::path(TUTTI_TEST_DATA).parent_path() / "src" / file;
  std::ifstream source(path);
  std::string picture;
  std::string line;
  bool below = false;
  std::size_t indent = 0;
  while (std::getline(source, line)) {
    const std::size_t text = line.find_first_not_of("/ ");
    if (below && (!line.starts_with("///") || text == std::string::npos)) break;
    if (below) {
      if (picture.empty()) indent = text;
      picture += line.substr(indent) + "\n";
    }
    below = below || (text != std::string::npos && line.substr(text).starts_with(title));
  }
  EXPECT_FALSE(picture.empty()) << "no \"" << title << "\" in " << path;
  return picture;
}

/// p = 6, root 2, in the order that the comments use.
std::string drawn(Collective collective, const char* algorithm, const Order& order) {
  const Specification spec = *specification(collective, algorithm);
  std::vector<Schedule> schedules;
  for (Rank rank = 0; rank < 6; ++rank) {
    Problem problem;
    problem.collective = collective;
    problem.p = 6;
    problem.rank = rank;
    problem.root = 2;
    problem.order = order;
    problem.sizes = Sizes::equal(1);
    problem.parameters = spec.parameters;
    schedules.push_back(spec.algorithm->schedule(problem));
  }
  return drawn(schedules, false);
}

const std::vector<Bytes> example = {1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5};

TEST(Picture, OfTheKnomialShape) {
  const Knomial tree(11, 3);
  TreeShape shape;
  shape.children = [&](int v) { return tree.children(v); };
  shape.label = [](int v) { return std::to_string(v); };
  EXPECT_EQ(to_text(shape), profile_in("shapes/knomial.hpp", "p = 11, k = 3"));
}

TEST(Picture, OfTheRelayShapeAndScatter) {
  const RelayTree tree(7, 3);
  TreeShape shape;
  shape.children = [&](int v) {
    std::vector<int> children = tree.children(v);
    std::reverse(children.begin(), children.end());
    return children;
  };
  shape.label = [](int v) { return std::to_string(v); };
  EXPECT_EQ(to_text(shape), profile_in("shapes/relay.hpp", "p = 7, late = 3"));
  EXPECT_EQ(drawn(Collective::scatter, "relay:late=2", Order::listed({2, 0, 5, 1, 4, 3})),
            profile_in("algorithms/tree.cpp", "p = 6, late = 2"));
}

// An example to copy: the picture of a shape, and those of the algorithms that use it.
TEST(Picture, OfTheBineShapeAndItsAlgorithms) {
  const BineTree tree(11);
  TreeShape shape;
  shape.root = tree.root();
  shape.children = [&](int v) {
    std::vector<int> children = tree.children(v);
    std::reverse(children.begin(), children.end());
    return children;
  };
  shape.label = [](int v) { return std::to_string(v); };
  EXPECT_EQ(to_text(shape), profile_in("shapes/bine.hpp", "p = 11"));
  for (const Collective collective : {Collective::bcast, Collective::gather, Collective::scatter}) {
    const Call call{collective, 2, std::vector<Bytes>(6, 1)};
    EXPECT_EQ(drawn(Problems(*specification(collective, "bine"), call).schedules(), false),
              profile_in("algorithms/tree.cpp", collective == Collective::gather
                                                    ? "gather, p = 6, root 2"
                                                    : "scatter and bcast, p = 6, root 2"));
  }
}

TEST(Picture, OfTheKnomialGatherAndScatter) {
  const Order order = Order::listed({2, 0, 5, 1, 4, 3});
  EXPECT_EQ(drawn(Collective::gather, "knomial:k=2", order),
            profile_in("algorithms/tree.cpp", "gather, p = 6, k = 2"));
  EXPECT_EQ(drawn(Collective::scatter, "knomial:k=2", order),
            profile_in("algorithms/tree.cpp", "scatter, p = 6, k = 2"));
}

TEST(Picture, OfTheLinearGatherAndScatter) {
  const Order order = Order::rotated(6, 2);
  EXPECT_EQ(drawn(Collective::gather, "linear", order),
            profile_in("algorithms/linear.cpp", "p = 6, root 2"));
  EXPECT_EQ(drawn(Collective::scatter, "linear", order),
            profile_in("algorithms/linear.cpp", "p = 6, root 2"));
}

TEST(Picture, OfTheOrderedTree) {
  const Problems problems(*specification(Collective::gatherv, "ordered_tree:promote=off"),
                          {Collective::gatherv, 9, example, 0});
  EXPECT_EQ(drawn(problems.schedules(), true),
            profile_in("protocols/ordered_tree.hpp", "p = 11, sizes 1 0 2 3 4 2 0 0 1 7 5"));
}

/// Which ranks exchange in the n-th message that each sends: "0<>1 2<>3".
std::string exchanged(const std::vector<Schedule>& schedules, std::size_t n) {
  std::string pairs;
  for (Rank rank = 0; rank < static_cast<Rank>(schedules.size()); ++rank) {
    std::vector<Rank> peers;
    for (const Step& step : schedules[index(rank)].steps) {
      if (step.kind == StepKind::send) peers.push_back(step.peer);
    }
    if (n >= peers.size() || peers[n] < rank) continue;
    pairs += " " + std::to_string(rank) + "<>" + std::to_string(peers[n]);
  }
  return pairs;
}

TEST(Picture, OfTheNodeAwareAlltoall) {
  const auto schedules = Problems(*specification(Collective::alltoall, "node_aware:k=2"),
                                  {Collective::alltoall, 0, std::vector<Bytes>(6, 1)})
                             .schedules();
  EXPECT_EQ("in nodes:" + exchanged(schedules, 0) + "\nbetween: " + exchanged(schedules, 1) +
                "\nin nodes:" + exchanged(schedules, 2) + "\n",
            profile_in("algorithms/alltoall/node_aware.cpp", "p = 6, k = 2"));
  for (const Schedule& one : schedules) EXPECT_EQ(one.steps.size(), 6U);
}

/// The messages of each round, which ends where a rank waits: "2>4:1" is block 1 from rank 2.
std::string rounds_text(const std::vector<Schedule>& schedules) {
  std::vector<std::string> rounds;
  for (const Schedule& schedule : schedules) {
    std::size_t round = 0;
    for (const Step& step : schedule.steps) {
      rounds.resize(std::max(rounds.size(), round + 1));
      if (step.kind == StepKind::wait) ++round;
      if (step.kind != StepKind::send) continue;
      std::string& text = rounds[round];
      text += (text.empty() ? "" : " ") + std::to_string(schedule.rank) + ">" +
              std::to_string(step.peer) + ":" + std::to_string(step.blocks.range.begin);
    }
  }
  std::string text;
  for (const std::string& round : rounds) text += round + "\n";
  return text;
}

TEST(Picture, OfTheCirculantReduce) {
  const Call call{Collective::reduce, 0, std::vector<Bytes>(5, 2)};
  const Problems problems(*specification(Collective::reduce, "circulant:parts=2"), call);
  EXPECT_EQ(rounds_text(problems.schedules()),
            profile_in("algorithms/circulant.cpp", "p = 5, root 0, 2 parts"));
}

// Träff 2017, Figure 2. Its caption says that the construction finds root 9. By Lemma 1 a cube
// that has gathered less sends to the other: 9's [8,10] has gathered 6 (13 with its own 7),
// 3's [0,7] has 9, so that 9 sends and 3 is the root, in 22 = 25 - 3 units.
TEST(Figure2, GrowsRoot3ByTheRuleOfTheLemma) {
  Growth growth;
  growth.p = 11;
  growth.parameters.rule = JoinRule::gather_time;
  const OrderedTree tree(growth, example);
  TreeShape shape;
  shape.root = tree.root();
  shape.children = [&](int rank) {
    std::vector<int> children;
    for (const Subtree& child : tree.neighbours(rank).children) {
      if (child.bytes > 0) children.push_back(child.root);
    }
    return children;
  };
  shape.label = [&](int rank) {
    const std::string name = std::to_string(rank);
    return rank == tree.root() ? name
                               : name + ":" + std::to_string(tree.neighbours(rank).self.bytes);
  };
  EXPECT_EQ(to_text(shape),
            "3 -+- 2:2\n"
            "   +- 0:1\n"
            "   +- 4:6 --- 5:2\n"
            "   +- 9:13 -+- 8:1\n"
            "            +- 10:5\n");
  EXPECT_EQ(tree.lemma_time(), 22);
}

// With 9 as the root that the caller names, by Lemma 2: 21 = 18 + 3, where 3 = 12 - 3 - 6 is what
// the other side is late by.
TEST(Figure2, GrowsTowards9WhereTheCallerNamesIt) {
  const Problems problems(*specification(Collective::gatherv, "TUW"),
                          {Collective::gatherv, 9, example, 0});
  EXPECT_EQ(drawn(problems.schedules(), true),
            "9 -+- 8:1\n"
            "   +- 10:5\n"
            "   +- 3:12 -+- 2:2\n"
            "            +- 0:1\n"
            "            +- 4:6 --- 5:2\n");
  EXPECT_EQ(problems.tree()->lemma_time(), 21);
}

// The same as schedules: what is written is what is read.
TEST(Figure2, AsSchedules) {
  const Problems problems(*specification(Collective::gatherv, "TUW"),
                          {Collective::gatherv, 9, example, 0});
  EXPECT_EQ(to_text(problems.schedule(9)),
            "gatherv p 11 rank 9 root 9\n"
            "0 recv 8 [8,9) 1\n"
            "1 recv 10 [10,11) 5\n"
            "2 recv 3 [0,8) 12\n");
  EXPECT_EQ(to_text(problems.schedule(3)),
            "gatherv p 11 rank 3 root 9\n"
            "0 recv 2 [2,3) 2\n"
            "1 recv 0 [0,2) 1\n"
            "2 recv 4 [4,8) 6\n"
            "3 send 9 [0,8) 12\n");
  EXPECT_EQ(to_text(problems.schedule(7)), "gatherv p 11 rank 7 root 9\n");
}

}  // namespace
}  // namespace tutti
