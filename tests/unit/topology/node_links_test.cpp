/// Which links between nodes are measured, what stands for the others, and what is kept of them.
#include "topology/node_links.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "topology/link_survey.hpp"
#include "topology/node_sets.hpp"
#include "topology/shared_links.hpp"
#include "unit/link_helpers.hpp"

namespace tutti {
namespace {

using Pairs = std::vector<RankPair>;
using Names = std::vector<std::string>;

/// Nodes 0 .. 2 and the others at one switch each: 1 within, 4 across.
double of_two_switches(int a, int b) { return (a < 3) == (b < 3) ? 1 : 4; }

TEST(NodeLinks, AreMeasuredNodeByNode) {
  NodeLinks links(4);
  EXPECT_EQ(next_pairs(links), (Pairs{{0, 1}, {0, 2}, {0, 3}}));
  links.set(0, 2, {1, 1});
  EXPECT_EQ(next_pairs(links), (Pairs{{0, 1}, {0, 3}}));
  links.set(1, 0, {1, 1});
  links.set(3, 0, {1, 1});
  EXPECT_EQ(next_pairs(links), (Pairs{{1, 2}, {1, 3}}));
}

// 6 nodes: those of 0 and 1 at one switch, of 3 and 4 at the other one: 5 + 4 + 3 + 2 of 15.
TEST(NodeLinks, OfTwoNodesStandForThoseAtTheSameSwitch) {
  const MeasuredNodes found = measured_nodes(6, of_two_switches);
  EXPECT_EQ(found.rows, 4);
  EXPECT_EQ(found.pairs, 14);
  EXPECT_EQ(found.links.find(2, 5), nullptr);
  EXPECT_FALSE(are_alike(found.links));
  const NodeLinks all = completed(found.links);
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < a; ++b) {
      EXPECT_EQ(*all.find(a, b), seconds_of(of_two_switches(a, b))) << a << " " << b;
    }
  }
}

TEST(NodeLinks, ThatAreAlikeTakeTwoNodes) {
  const MeasuredNodes found = measured_nodes(10, [](int, int) { return 3.0; });
  EXPECT_EQ(found.pairs, 9 + 8);
  EXPECT_TRUE(are_alike(found.links));
}

// Nodes 1 and 2 at one switch, 3 and 4 at another: from node 0 all are equally far.
TEST(NodeLinks, ShowGroupsThatAreEquallyFarFromNode0) {
  const MeasuredNodes found =
      measured_nodes(5, [](int a, int b) { return (a + 1) / 2 == (b + 1) / 2 ? 1.0 : 4.0; });
  EXPECT_FALSE(are_alike(found.links));
  EXPECT_EQ((*completed(found.links).find(3, 4))[1], 1);
}

TEST(NodeLinks, AreAlikeWhereNoiseExplainsTheDifference) {
  NodeLinks links(3);
  links.set(0, 1, {1, 1});
  links.set(0, 2, {1.49, 1.19});
  EXPECT_TRUE(are_alike(links));
  links.set(2, 2, {0.1, 0.1});  // within a node
  EXPECT_TRUE(are_alike(links));
  links.set(1, 2, {1.5, 1});
  EXPECT_FALSE(are_alike(links));
  links.set(1, 2, {1, 1.2});
  EXPECT_FALSE(are_alike(links));
}

TEST(NodeLinks, ThatAnotherRunHasMeasuredAreNotMeasuredAgain) {
  const MeasuredNodes whole = measured_nodes(6, of_two_switches);
  NodeLinks half(6);
  int known = 0;
  for (const auto& [pair, seconds] : whole.links.all()) {
    if (++known % 2 == 0) half.set(pair.first, pair.second, seconds);
  }
  const MeasuredNodes rest = measured_nodes(half, of_two_switches);
  EXPECT_EQ(rest.pairs, whole.pairs - whole.pairs / 2);
  EXPECT_EQ(rest.links, whole.links);
}

NodeSet set_of(Names nodes, Pairs pairs, double time) {
  NodeSet set{std::move(nodes), NodeLinks(0), "2026-01-02"};
  set.links = NodeLinks(static_cast<int>(set.nodes.size()));
  for (const auto& [a, b] : pairs) set.links.set(a, b, seconds_of(time));
  return set;
}

TEST(NodeSets, ReadAsTheyWereWritten) {
  const std::vector<NodeSet> sets = {set_of({"a", "b\"", "c"}, {{0, 1}, {1, 1}}, 1.0 / 3),
                                     set_of({"b"}, {}, 1)};
  EXPECT_EQ(*node_sets_from_text(to_text(sets)), sets);
  EXPECT_EQ(*node_sets_from_text(to_text(std::vector<NodeSet>())), std::vector<NodeSet>());
}

TEST(NodeSets, OfTheSameNodesAreMerged) {
  std::vector<NodeSet> sets = {set_of({"a", "b", "c"}, {{0, 1}, {0, 2}}, 1),
                               set_of({"a", "d"}, {{0, 1}}, 2)};
  add_set(sets, set_of({"a", "b", "c"}, {{0, 2}, {1, 2}}, 3));
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].nodes, (Names{"a", "d"}));
  EXPECT_EQ(*sets[1].links.find(0, 1), seconds_of(1));
  EXPECT_EQ(*sets[1].links.find(0, 2), seconds_of(3));
  EXPECT_EQ(*sets[1].links.find(1, 2), seconds_of(3));
}

TEST(NodeSets, OfMoreThanTheLimitTheOldestGo) {
  std::vector<NodeSet> sets;
  for (std::size_t i = 0; i <= max_node_sets; ++i) {
    add_set(sets, set_of({"n" + std::to_string(i)}, {}, 1));
  }
  EXPECT_EQ(sets.size(), max_node_sets);
  EXPECT_EQ(sets.front().nodes, Names{"n1"});
  const std::string all = to_text(sets);
  const std::string fewer = to_text(sets, all.size() - 1);
  EXPECT_LT(fewer.size(), all.size());
  const std::vector<NodeSet> read = *node_sets_from_text(fewer);
  EXPECT_EQ(read, std::vector<NodeSet>(sets.begin() + 1, sets.end()));
}

TEST(NodeSets, KnowTheLinksOfAnyOfTheirNodes) {
  NodeSet two_switches = set_of({"a", "b", "c", "d", "e", "f"}, {}, 1);
  two_switches.links = measured_nodes(6, of_two_switches).links;
  ASSERT_EQ(two_switches.links.find(2, 5), nullptr);  // others stand for them
  const NodeLinks found = links_between({two_switches}, {"c", "d", "f", "x"});
  EXPECT_EQ(*found.find(0, 2), seconds_of(4));
  EXPECT_EQ(*found.find(1, 2), seconds_of(1));
  EXPECT_EQ(found.find(0, 3), nullptr);
  // What was measured later counts.
  const NodeSet later = set_of({"e", "f"}, {{0, 1}}, 7);
  EXPECT_EQ(*links_between({two_switches, later}, {"e", "f"}).find(0, 1), seconds_of(7));
  // Others stand only for what nobody has measured.
  const NodeSet near = set_of({"c", "d"}, {{0, 1}}, 1);
  const NodeSet far = set_of({"a", "b", "c", "d"}, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}}, 4);
  EXPECT_EQ(*links_between({near, far}, {"c", "d"}).find(0, 1), seconds_of(1));
}

TEST(NodeSets, OfTheFormerFormatAreNone) {
  const char* const former =
      R"({"schema": "tutti-distances-1", "unit": "us", "names": ["a", "b"],
          "levels": [[0, 1]], "measured": [{"bytes": 1, "pairs": [[0, 1, 20]]}]})";
  EXPECT_EQ(*node_sets_from_text(former), std::vector<NodeSet>());
}

TEST(NodeSets, SayWhatIsWrong) {
  const auto error_of = [](const std::string& sets) {
    const auto read = node_sets_from_text(
        "{\"schema\": \"tutti-learned-distances-1\", \"sets\": [" + sets + "]}");
    return read ? std::string() : read.error();
  };
  EXPECT_EQ(error_of(R"({"nodes": ["b", "a"]})"), "line 1: node \"b\" is not before the next one");
  EXPECT_EQ(error_of(R"({"nodes": ["a"], "links": [[0, 1, 1, 1]]})"),
            "line 1: node 1 of a link; expected 0 to 0");
  EXPECT_EQ(error_of(R"({"links": [[0, 1, 1]]})"),
            "line 1: invalid link; expected [node, node, time, time]");
  EXPECT_EQ(error_of(R"({"links": [[0, 1, 1, 1, 1]]})"),
            "line 1: invalid link; expected [node, node, time, time]");
  EXPECT_EQ(error_of(R"({"links": [[0, 1, 1, 0]]})"),
            "line 1: invalid link; expected times above 0");
  EXPECT_EQ(node_sets_from_text("{}").error(),
            "invalid schema \"\"; expected \"tutti-learned-distances-1\"");
  EXPECT_FALSE(node_sets_from_text("{"));
}

/// 2 ranks on host b, 1 on host a twice (two nodes of one host), and 1 on host c.
LinkSurvey survey_of_4_nodes() {
  const std::vector<int> labels = {0, 1, 0, 2, 3};
  return {Nodes::of(labels), {{"b", 0}, {"a", 1}, {"b", 2}, {"a", 3}, {"c", 4}}, 5};
}

TEST(LinkSurvey, NamesNodesByTheirHosts) {
  EXPECT_EQ(survey_of_4_nodes().names(), (Names{"a", "a/1", "b", "c"}));
}

TEST(LinkSurvey, TranslatesBetweenRanksAndNodes) {
  LinkSurvey survey = survey_of_4_nodes();
  EXPECT_EQ(survey.next_pairs(), (Pairs{{1, 3}, {1, 0}, {1, 4}}));
  const std::vector<MeasuredLink> measured = {
      {1, 3, {1, 10}}, {1, 0, {2, 20}}, {1, 4, {3, 30}}, {3, 0, {4, 40}}, {3, 4, {5, 50}}};
  survey.add_measured(measured);
  EXPECT_EQ(survey.next_pairs(), (Pairs{{0, 4}}));
  EXPECT_FALSE(survey.are_insides_known());
  NodeLinks known(4);
  known.set(2, 3, {6, 60});
  known.set(2, 2, {0.5, 5});
  survey.add_known(known);
  EXPECT_TRUE(survey.next_pairs().empty());
  EXPECT_TRUE(survey.are_insides_known());
  EXPECT_EQ(survey.measured().all().size(), measured.size());
  const DistanceFile file = survey.distances({1, 1000});
  EXPECT_EQ(file.names, (Names{"b", "a", "b", "a", "c"}));
  ASSERT_FALSE(file.hierarchy.levels.empty());
  EXPECT_EQ(file.hierarchy.levels[0], (std::vector<int>{0, 1, 0, 2, 3}));
  EXPECT_EQ(flaw_of(file.hierarchy), "");
  ASSERT_EQ(file.measured.size(), 2U);
  EXPECT_EQ(file.measured[0].bytes, 1);
  EXPECT_EQ(file.measured[1].bytes, 1000);
  const Distances& large = file.measured[1].distances;
  EXPECT_EQ(large(0, 2), 5);
  EXPECT_EQ(large(2, 1), 20);
  EXPECT_EQ(large(3, 1), 10);
  EXPECT_EQ(large(2, 4), 60);
  EXPECT_EQ(large(4, 4), 0);
}

TEST(LinkSurvey, ShowsTheLinkThatNodesAtOneSwitchShare) {
  const std::vector<int> labels = {0, 1, 2, 3};
  LinkSurvey survey(Nodes::of(labels), {{"a", 0}, {"b", 2}, {"c", 1}, {"d", 3}}, 4);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) {
      const double longer = a % 2 == b % 2 ? 1 : 4;
      survey.add_measured(std::vector<MeasuredLink>{{a, b, {1e-4, 5e-3 * longer}}});
    }
  }
  const Fabric fabric = fabric_of(survey.distances({1, 1 << 18}), 0, 0);
  ASSERT_EQ(fabric.shared.size(), 2U) << "of each node, and of each switch";
  EXPECT_EQ(fabric.shared[1].group, (std::vector<int>{0, 0, 1, 1})) << "by rank in the world";
  for (const double per_byte : fabric.shared[1].per_byte) EXPECT_GT(per_byte, 0);
}

// Of a communicator in another sequence than the world, if it has the whole world.
TEST(LinkSurvey, GivesDistancesByRankInTheWorld) {
  const std::vector<int> labels = {0, 1};
  LinkSurvey survey(Nodes::of(labels), {{"a", 1}, {"b", 0}}, 2);
  survey.add_measured(std::vector<MeasuredLink>{{0, 1, {1, 2}}});
  EXPECT_EQ(survey.distances({1, 2}).names, (Names{"b", "a"}));
}

}  // namespace
}  // namespace tutti
