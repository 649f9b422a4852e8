/// Every form in which schedules and timelines are drawn is what it was.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "algorithms/problems.hpp"
#include "draw/goal.hpp"
#include "draw/json.hpp"
#include "draw/messages.hpp"
#include "draw/picture.hpp"
#include "draw/svg_elements.hpp"
#include "draw/timeline_svg.hpp"
#include "draw/transfer_tree.hpp"
#include "draw/tree_svg.hpp"
#include "shapes/knomial.hpp"

namespace tutti {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path << " cannot be read";
  return text.str();
}

std::string knomial_picture(int p, int k) {
  const Knomial tree(p, k);
  return to_text(TreeShape{0, [&](int v) { return tree.children(v); },
                           [](int v) { return std::to_string(v); }});
}

std::vector<Schedule> schedules_of(Collective collective, const std::string& algorithm,
                                   const std::vector<Bytes>& sizes, Rank root) {
  const Result<Specification> spec = specification(collective, algorithm);
  EXPECT_TRUE(spec) << algorithm;
  return Problems(*spec, Call{collective, root, sizes, 10000}).schedules();
}

const std::vector<Bytes> figure_sizes = {1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5};

TEST(Drawing, BinomialOfSixRanks) {
  EXPECT_EQ(knomial_picture(6, 2),
            "0 -+- 1\n"
            "   +- 2 --- 3\n"
            "   +- 4 --- 5\n");
}

TEST(Drawing, ScatterHasTheSameTreeAsGather) {
  const auto edges = [](Collective collective) {
    const auto schedules = schedules_of(collective, "ordered_tree", figure_sizes, 9);
    return transfer_tree(schedules).bytes_above();
  };
  EXPECT_EQ(edges(Collective::gatherv), edges(Collective::scatterv));
}

TEST(Drawing, LeavesOutRanksWithoutData) {
  const auto schedules = schedules_of(Collective::gatherv, "ordered_tree", figure_sizes, 9);
  EXPECT_EQ(transfer_tree(schedules).idle(), (std::vector<Rank>{1, 6, 7}));
}

TEST(Drawing, SegmentsOfAnEdgeAreOneEdge) {
  const auto schedules = schedules_of(Collective::gatherv, "linear_sync:segment=4", {9, 9, 9}, 0);
  EXPECT_EQ(to_text(transfer_tree(schedules)), "0 -+- 1:9\n   +- 2:9\n");
}

TEST(Messages, BinomialTakesThreeRoundsOfEightRanks) {
  const auto all =
      messages(schedules_of(Collective::gather, "binomial", std::vector<Bytes>(8, 1), 0));
  ASSERT_TRUE(all) << all.error();
  std::string text;
  for (const Message& message : *all) {
    text += std::to_string(message.round) + ":" + std::to_string(message.from) + ">" +
            std::to_string(message.to) + ":" + std::to_string(message.bytes) + " ";
  }
  EXPECT_EQ(text, "1:1>0:1 1:3>2:1 1:5>4:1 1:7>6:1 2:2>0:2 2:6>4:2 3:4>0:4 ");
}

TEST(Messages, NoRankTakesPartInTwoOfARound) {
  for (const Algorithm& algorithm : all_algorithms()) {
    const bool irregular = is_irregular(algorithm.collective);
    const auto sizes = irregular ? figure_sizes : std::vector<Bytes>(11, 3);
    const auto all =
        messages(schedules_of(algorithm.collective, std::string(algorithm.name), sizes, 4));
    ASSERT_TRUE(all) << algorithm.name << ": " << all.error();
    std::vector<int> last(22, 0);  // of each rank's port, or ports
    const int receives = has_two_ports(algorithm.collective) ? 11 : 0;
    for (const Message& message : *all) {
      for (const int port : {message.from, message.to + receives}) {
        EXPECT_GT(message.round, last[static_cast<std::size_t>(port)]) << algorithm.name;
        last[static_cast<std::size_t>(port)] = message.round;
      }
    }
  }
}

TEST(Messages, NamesAStepWithoutPartner) {
  auto schedules = schedules_of(Collective::gather, "linear", {1, 1}, 0);
  schedules[1].steps.clear();
  const auto all = messages(schedules);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), "rank 0, step 0: rank 1 has no matching send");
  EXPECT_FALSE(to_goal(schedules));
}

TEST(Messages, NamesAStepThatWaitsForever) {
  auto schedules = schedules_of(Collective::gather, "linear", {1, 1}, 0);
  Step wait;
  wait.kind = StepKind::wait;
  wait.first = 1;
  wait.last = 2;
  schedules[0].steps.insert(schedules[0].steps.begin(), wait);
  const auto all = messages(schedules);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error(), "rank 0, step 0 (wait 1-2) never completes: the schedules deadlock");
}

TEST(Goal, RequiresWhatIsForwardedAndWaitedFor) {
  const auto goal = to_goal(schedules_of(Collective::gather, "binomial", {8, 8, 8, 8}, 0));
  ASSERT_TRUE(goal) << goal.error();
  EXPECT_EQ(*goal,
            "num_ranks 4\n"
            "\nrank 0 {\nl0: recv 8b from 1 tag 0\nl1: recv 16b from 2 tag 0\n}\n"
            "\nrank 1 {\nl0: send 8b to 0 tag 0\n}\n"
            "\nrank 2 {\nl0: recv 8b from 3 tag 0\nl1: send 16b to 0 tag 0\nl1 requires l0\n}\n"
            "\nrank 3 {\nl0: send 8b to 2 tag 0\n}\n");
}

TEST(Goal, SignalsHaveAByteAndWaitsAreCalculations) {
  const auto goal = to_goal(schedules_of(Collective::scatter, "linear_sync", {8, 8}, 0));
  ASSERT_TRUE(goal) << goal.error();
  EXPECT_EQ(*goal,
            "num_ranks 2\n"
            "\nrank 0 {\nl0: recv 1b from 1 tag 0\nl1: calc 0\nl1 requires l0\n"
            "l2: send 8b to 1 tag 0\nl2 requires l1\nl3: calc 0\nl3 requires l1\n"
            "l3 requires l2\n}\n"
            "\nrank 1 {\nl0: send 1b to 0 tag 0\nl1: recv 8b from 0 tag 0\n}\n");
}

TEST(Json, HasTheFieldsOfTheTextForm) {
  EXPECT_EQ(to_json(schedules_of(Collective::gatherv, "ordered_tree", {2, 3}, 1)),
            "{\"collective\":\"gatherv\",\"root\":1,\"p\":2,\"ranks\":[\n"
            "[{\"kind\":\"send\",\"peer\":1,\"blocks\":[0,1],\"bytes\":2}],\n"
            "[{\"kind\":\"recv\",\"peer\":0,\"blocks\":[0,1],\"bytes\":2}]]}\n");
}

TEST(Svg, EscapesTitlesAndDrawsEveryEdge) {
  const auto schedules = schedules_of(Collective::gatherv, "ordered_tree", figure_sizes, 9);
  const auto svg = tree_to_svg(schedules, "a < b & 'c'");
  ASSERT_TRUE(svg) << svg.error();
  EXPECT_NE(svg->find("a &lt; b &amp; &apos;c&apos;"), std::string::npos);
  std::size_t edges = 0;
  for (std::size_t at = svg->find("<path"); at != std::string::npos;
       at = svg->find("<path", at + 1)) {
    ++edges;
  }
  EXPECT_EQ(edges, 7u);
  EXPECT_FALSE(tree_to_svg({}, "nothing"));
}

TEST(Svg, IsTheSameAsBefore) {
  const auto schedules = schedules_of(Collective::gatherv, "ordered_tree", figure_sizes, 9);
  const auto golden = std::filesystem::path(TUTTI_TEST_DATA) / "golden/figure2.svg";
  EXPECT_EQ(*tree_to_svg(schedules, "gatherv, ordered_tree, 11 ranks, root 9, 25 bytes"),
            text_of(golden));
}

TEST(Svg, ColoursGetDarker) {
  EXPECT_EQ(scale_colour(-1), scale_colour(0));
  EXPECT_EQ(scale_colour(0), "#a8d8d2");
  EXPECT_EQ(scale_colour(1), "#083d77");
}

TEST(Timeline, HasABarAtBothEndsOfEachTransfer) {
  const auto schedules = schedules_of(Collective::gatherv, "linear", {1, 2, 3}, 0);
  const auto timeline = simulate(schedules, Network{1, 1});
  ASSERT_TRUE(timeline) << timeline.error();
  const std::string svg = timeline_to_svg(*timeline, "three", 1, "units");
  std::size_t bars = 0;
  for (std::size_t at = svg.find("<rect x"); at != std::string::npos;
       at = svg.find("<rect x", at + 1)) {
    ++bars;
  }
  EXPECT_EQ(bars, 3u + 2 * 2u);  // the ground of each rank, two ends of two transfers
  EXPECT_NE(timeline_to_json(*timeline).find("\"to\":0,\"bytes\":2,\"start\":0,\"end\":3"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti
