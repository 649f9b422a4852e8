/// The list, its specifications, and algorithms that must be the same schedule.
#include "algorithms/algorithms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/distributions.hpp"
#include "sweep/sweep.hpp"
#include "unit/call_helpers.hpp"

namespace tutti {
namespace {

using testing_support::schedules_of;
using testing_support::spec_of;

TEST(List, HasEachNameOnceForEachCollective) {
  std::set<std::pair<Collective, std::string_view>> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    EXPECT_TRUE(names.emplace(algorithm.collective, algorithm.name).second) << algorithm.name;
    EXPECT_FALSE(algorithm.summary.empty()) << algorithm.name;
    EXPECT_TRUE(specification(algorithm.collective, algorithm.name)) << algorithm.name;
  }
}

TEST(List, HasEachRoleOnceForEachCollective) {
  for (const Collective collective : all_collectives) {
    std::multiset<std::string_view> roles;
    for (const Algorithm& algorithm : all_algorithms()) {
      if (algorithm.collective != collective) continue;
      for (std::string_view rest = algorithm.roles; !rest.empty();) {
        const std::string_view role = rest.substr(0, rest.find(' '));
        roles.insert(role);
        rest.remove_prefix(std::min(rest.size(), role.size() + 1));
      }
    }
    std::multiset<std::string_view> expected = {"small"};
    if (collective != Collective::barrier) expected.insert("large");
    if (reduces(collective) && !is_one_sided(collective)) expected.insert("fixed");
    EXPECT_EQ(roles, expected) << name_of(collective);
  }
}

TEST(List, StatesTheDefaultsOfParameters) {
  struct Parameter {
    std::string_view name, by_default;
  };
  constexpr Parameter parameters[] = {
#define TUTTI_PARAMETER(name, field, by_default, ...) {#name, by_default},
#include "algorithms/parameters.inc"
  };
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const auto& [name, by_default] : parameters) {
      if (!algorithm.takes(name) || by_default.find(' ') != std::string_view::npos) continue;
      const std::string stated = std::string(name) + "=" + std::string(by_default);
      const std::string text = std::string(algorithm.name) + ":" + stated;
      EXPECT_EQ(to_text(spec_of(algorithm.collective, text)), algorithm.name) << stated;
    }
  }
}

TEST(List, OffersTheSameAlgorithmsForEveryCollective) {
  std::map<Collective, std::vector<std::string_view>> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    names[algorithm.collective].push_back(algorithm.name);
  }
  EXPECT_EQ(names[Collective::gatherv], names[Collective::gather]);
  EXPECT_EQ(names[Collective::scatterv], names[Collective::scatter]);
  EXPECT_EQ(names[Collective::allgatherv], names[Collective::allgather]);
  // Early ranks can deliver for late ones; what a late rank brings, it can send itself.
  EXPECT_EQ(std::erase(names[Collective::scatter], "relay"), 1U);
  EXPECT_EQ(names[Collective::scatter], names[Collective::gather]);
}

TEST(Specification, ReadsBackFromItsText) {
  for (const Algorithm& algorithm : all_algorithms()) {
    for (const Specification& written : variations(algorithm)) {
      const auto read = specification(algorithm.collective, to_text(written));
      ASSERT_TRUE(read) << read.error();
      EXPECT_EQ(to_text(*read), to_text(written));
      EXPECT_EQ(read->algorithm, written.algorithm);
      EXPECT_EQ(read->parameters, written.parameters) << to_text(written);
      if (algorithm.takes("order")) {
        EXPECT_EQ(read->order, written.order) << to_text(written);
      }
      EXPECT_EQ(read->runner, written.runner) << to_text(written);
    }
  }
}

TEST(Specification, TakesThePapersNamesInAnyCase) {
  for (const Alias& alias : all_aliases()) {
    int collectives = 0;
    for (const Collective collective : all_collectives) {
      const auto direct = specification(collective, alias.specification);
      const auto meant = specification(collective, alias.name);
      ASSERT_EQ(static_cast<bool>(meant), static_cast<bool>(direct)) << alias.name;
      if (!meant) continue;
      EXPECT_EQ(to_text(*meant), to_text(*direct));
      ++collectives;
    }
    EXPECT_GE(collectives, 1) << alias.name;
  }
  EXPECT_EQ(to_text(spec_of(Collective::gatherv, "tuw_GATHERV")),
            "ordered_tree:rule=gather_time,promote=off");
  EXPECT_EQ(to_text(spec_of(Collective::gatherv, "TUW:ports=2")),
            "ordered_tree:rule=gather_time,promote=off,ports=2");
}

TEST(Specification, ReadsEverySetting) {
  const Specification tree =
      spec_of(Collective::gatherv, "Ordered_Tree:threshold=64K,ports=3,rule=gather_time");
  EXPECT_EQ(tree.parameters.threshold, 65536);
  EXPECT_EQ(tree.parameters.ports, 3);
  EXPECT_EQ(tree.parameters.rule, JoinRule::gather_time);
  EXPECT_EQ(spec_of(Collective::gatherv, "ordered_tree:threshold=off").parameters.threshold, -1);
  const Specification knomial = spec_of(Collective::scatter, "knomial:k=7,order=natural");
  EXPECT_EQ(knomial.parameters.k, 7);
  EXPECT_EQ(knomial.order, OrderName::natural);
  EXPECT_EQ(spec_of(Collective::gather, "LS:segment=2M").parameters.segment, 2 << 20);
  EXPECT_EQ(spec_of(Collective::gather, "linear").runner, Runner::caller);
  EXPECT_EQ(spec_of(Collective::gather, "BSLS").runner, Runner::background);
  EXPECT_EQ(spec_of(Collective::gather, "BSLS:runner=caller").runner, Runner::caller);
  EXPECT_EQ(to_text(spec_of(Collective::gather, "BSBN")),
            "binomial:order=arrival,runner=background");
}

TEST(Specification, KnowsWhatARankMustKnow) {
  const auto knowledge = [](Collective collective, const char* text) {
    return name_of(spec_of(collective, text).knowledge());
  };
  EXPECT_EQ(knowledge(Collective::gatherv, "linear"), "nothing");
  EXPECT_EQ(knowledge(Collective::gatherv, "linear:order=by_size"), "nothing");
  EXPECT_EQ(knowledge(Collective::gatherv, "binomial"), "subtree_sizes");
  EXPECT_EQ(knowledge(Collective::gatherv, "binomial:order=by_size"), "all_sizes");
  EXPECT_EQ(knowledge(Collective::gatherv, "ordered_tree"), "tree_neighbours");
  EXPECT_EQ(knowledge(Collective::gather, "ordered_tree"), "nothing");
}

TEST(Specification, SaysWhatRunsBetweenNodes) {
  const Specification ring = *specification(Collective::allgather, "ring");
  EXPECT_EQ(between_nodes(ring, Collective::allgatherv).algorithm->collective,
            Collective::allgatherv);
  EXPECT_EQ(to_text(between_nodes(ring, Collective::allgatherv)), "ring");
  const Specification bruck = *specification(Collective::alltoall, "bruck:order=natural,k=3");
  EXPECT_EQ(between_nodes(bruck, Collective::alltoall), bruck);
  const Specification plain = between_nodes(bruck, Collective::alltoallv);
  EXPECT_EQ(plain.algorithm->collective, Collective::alltoallv);
  EXPECT_EQ(to_text(plain), "linear:order=natural");
}

TEST(Bytes, ReadUnits) {
  EXPECT_EQ(*bytes_from("0"), 0);
  EXPECT_EQ(*bytes_from("1536"), 1536);
  EXPECT_EQ(*bytes_from("64K"), 65536);
  EXPECT_EQ(*bytes_from("8M"), 8388608);
  EXPECT_EQ(*bytes_from("3G"), Bytes{3} << 30);
}

// Programs are compared, not pinned.
class SameSchedules : public testing::TestWithParam<Collective> {
 protected:
  static void expect_same(const char* a, const char* b, int p) {
    std::vector<Bytes> sizes(static_cast<std::size_t>(p), 3);
    if (is_irregular(GetParam())) sizes = distribute(Distribution::random, p, 4);
    for (Rank root = 0; root < p; ++root) {
      const Call call{GetParam(), root, sizes, 0};
      ASSERT_EQ(schedules_of(a, call), schedules_of(b, call)) << a << ", " << b << ", p " << p;
    }
  }
};

TEST_P(SameSchedules, KnomialWithKTwoIsBinomial) {
  for (int p = 1; p <= 20; ++p) {
    expect_same("knomial:k=2", "binomial", p);
    expect_same("knomial:k=2,order=by_size", "binomial:order=by_size", p);
  }
}

TEST(Barrier, KnomialWithKAsManyAsRanksIsLinear) {
  for (int p = 2; p <= 9; ++p) {
    const Call call{Collective::barrier, 0, std::vector<Bytes>(static_cast<std::size_t>(p), 0), 0};
    EXPECT_EQ(schedules_of("linear", call), schedules_of("knomial:k=" + std::to_string(p), call));
  }
}

TEST_P(SameSchedules, KnomialWithKAsManyAsRanksIsLinear) {
  const bool gathers = is_gather(GetParam());
  for (int p = 2; p <= 9; ++p) {
    const std::string knomial = "knomial:k=" + std::to_string(p);
    if (gathers) expect_same(knomial.c_str(), "linear", p);
    // A scatter sends to its children from the last to the first.
    if (gathers) continue;
    std::vector<Bytes> sizes(static_cast<std::size_t>(p), 3);
    const Call call{GetParam(), 0, sizes, 0};
    auto backwards = schedules_of(knomial, call);
    std::reverse(backwards[0].steps.begin(), backwards[0].steps.end());
    EXPECT_EQ(backwards, schedules_of("linear", call));
  }
}

TEST_P(SameSchedules, OrderedTreeWithAHugeThresholdIsThatWithoutPromotion) {
  for (int p = 1; p <= 20; ++p) {
    expect_same("ordered_tree:threshold=1G", "ordered_tree:promote=off", p);
  }
}

TEST_P(SameSchedules, SyncWithOneSegmentHasAMessageLess) {
  const Call call{GetParam(), 0, {8, 8, 8}, 0};
  const auto two = schedules_of("linear_sync:segment=4", call);
  const auto one = schedules_of("linear_sync:segment=8", call);
  EXPECT_EQ(two[1].steps.size(), one[1].steps.size() + 1);
}

INSTANTIATE_TEST_SUITE_P(Lists, SameSchedules,
                         testing::Values(Collective::gather, Collective::gatherv,
                                         Collective::scatter, Collective::scatterv),
                         [](const auto& test) { return std::string(name_of(test.param)); });

// The gather read backwards, with sends for receives, is the scatter.
TEST(Mirror, OfAGatherIsTheScatter) {
  for (const char* algorithm : {"binomial", "knomial:k=3", "ordered_tree", "linear"}) {
    for (int p = 1; p <= 20; ++p) {
      const auto sizes = distribute(Distribution::random, p, 4);
      const auto gather = schedules_of(algorithm, {Collective::gatherv, p / 2, sizes, 3});
      const auto scatter = schedules_of(algorithm, {Collective::scatterv, p / 2, sizes, 3});
      for (Rank rank = 0; rank < p; ++rank) {
        const auto edges = [&](const Schedule& schedule, StepKind up) {
          std::set<std::tuple<bool, Rank, Position, Position, Bytes>> all;
          for (const Step& step : schedule.steps) {
            all.emplace(step.kind == up, step.peer, step.blocks.range.begin, step.blocks.range.end,
                        step.bytes);
          }
          return all;
        };
        EXPECT_EQ(edges(gather[static_cast<std::size_t>(rank)], StepKind::send),
                  edges(scatter[static_cast<std::size_t>(rank)], StepKind::recv))
            << algorithm << " p " << p;
      }
    }
  }
}

TEST(Scan, IsAChainOfOnePartIfLinear) {
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const Call call{collective, 0, std::vector<Bytes>(7, 1 << 20), 0};
    EXPECT_EQ(schedules_of("linear", call), schedules_of("chain:parts=1", call));
  }
}

// The last rank combines ranges of 1, 1, 2, 4, .. and of 1, 2, 3, 6, .. ranks.
TEST(Scan, TakesAsManyRoundsAsTheLastRankReceivesMessages) {
  const auto rounds = [](Collective collective, const char* name, int p) {
    const Call call{collective, 0, std::vector<Bytes>(static_cast<std::size_t>(p), 4), 0};
    const std::vector<Step> steps = schedules_of(name, call).back().steps;
    return std::count_if(steps.begin(), steps.end(),
                         [](const Step& step) { return step.kind == StepKind::recv; });
  };
  for (int p = 2; p <= 100; ++p) {
    const double ranks = p - 1;
    EXPECT_EQ(rounds(Collective::scan, "recursive_doubling", p), std::ceil(std::log2(p)));
    EXPECT_EQ(rounds(Collective::exscan, "recursive_doubling", p), 1 + std::ceil(std::log2(ranks)));
    EXPECT_EQ(rounds(Collective::exscan, "doubling_123", p),
              p == 2 ? 1 : std::ceil(std::log2(ranks * 4 / 3)));
  }
}

TEST(Scan, UpAndDownSendsLessThanTwoMessagesForEachRank) {
  for (int p = 1; p <= 100; ++p) {
    const Call call{Collective::scan, 0, std::vector<Bytes>(static_cast<std::size_t>(p), 4), 0};
    long messages = 0;
    for (const Schedule& schedule : schedules_of("up_down", call)) {
      messages += std::count_if(schedule.steps.begin(), schedule.steps.end(),
                                [](const Step& step) { return step.kind == StepKind::send; });
    }
    EXPECT_LT(messages, 2 * p);
  }
}

TEST(Schedules, OfEmptyBlocksAreEmpty) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == Collective::barrier) continue;  // without data from the start
    if (is_one_sided(algorithm.collective)) continue;           // only the root knows the size
    const Call call{algorithm.collective, 2, std::vector<Bytes>(7, 0), 0};
    for (const Schedule& schedule : schedules_of(algorithm.name, call)) {
      EXPECT_TRUE(schedule.steps.empty()) << algorithm.name << "\n" << to_text(schedule);
    }
  }
}

TEST(Schedules, OfAnInnerRankAreAsLongAsItsDegree) {
  // Memory of a leaf or inner rank is O(children), whatever p is.
  for (const Algorithm& algorithm : all_algorithms()) {
    if (!is_gather_or_scatter(algorithm.collective)) continue;  // leaves take what all ranks bring
    const int p = 1000;
    const Call call{algorithm.collective, 0, std::vector<Bytes>(p, 8), 0};
    const auto schedules = schedules_of(algorithm.name, call);
    for (Rank rank = 1; rank < p; ++rank) {
      EXPECT_LE(schedules[static_cast<std::size_t>(rank)].steps.size(), 11U) << algorithm.name;
    }
  }
}

/// The sends or receives of a rank that wait for no earlier step beyond those of their blocks.
std::ptrdiff_t first_messages(const Schedule& schedule, StepKind kind) {
  return std::ranges::count_if(
      schedule.steps, [&](const Step& step) { return step.kind == kind && step.after < 0; });
}

TEST(Schedules, OfExchangesBeginEightRoundsAtOnce) {
  constexpr int p = 40;
  for (const Collective collective :
       {Collective::alltoall, Collective::allgather, Collective::reduce_scatter,
        Collective::reduce_scatter_block}) {
    const Call call{collective, 0, std::vector<Bytes>(p, 4), 0};
    for (const Schedule& schedule : schedules_of("linear", call)) {
      EXPECT_EQ(first_messages(schedule, StepKind::send), 8) << to_text(schedule);
      EXPECT_EQ(first_messages(schedule, StepKind::recv), 8) << to_text(schedule);
    }
    if (collective == Collective::alltoall) continue;
    for (const Schedule& schedule : schedules_of("ring", call)) {
      EXPECT_EQ(first_messages(schedule, StepKind::recv), 8) << to_text(schedule);
    }
  }
}

// A rank that only sends, or only receives, has as few requests.
TEST(Schedules, OfExchangesWithEmptyBlocksBeginEightMessagesAtOnce) {
  constexpr int p = 40;
  Call call{Collective::alltoallv, 0, std::vector<Bytes>(p, 0), 0};
  call.pairs.resize(p * p, 0);
  std::fill_n(call.pairs.begin(), p, 4);
  const auto schedules = schedules_of("linear", call);
  EXPECT_EQ(first_messages(schedules[0], StepKind::send), 8) << to_text(schedules[0]);
  EXPECT_EQ(first_messages(schedules[1], StepKind::recv), 1) << to_text(schedules[1]);
}

// p * p pairs need more than 32 bits, and no rank can afford memory for all of them.
TEST(Schedules, OfAlltoallsNumberPairsOf65536Ranks) {
  Problem problem;
  problem.collective = Collective::alltoall;
  problem.p = 65536;
  problem.rank = problem.p - 1;
  problem.order = Order::identity(problem.p);
  problem.sizes = Sizes::equal(1);
  const BlockIndex all = BlockIndex{1} << 32;
  EXPECT_EQ(block_count(problem.collective, problem.p, 1), all);
  EXPECT_EQ(problem.pair(problem.rank, problem.rank).end, all);
  const Schedule bruck = schedule_of(*specification(problem.collective, "bruck"), problem);
  ASSERT_EQ(bruck.steps.size(), 32U);
  for (const Step& step : bruck.steps) EXPECT_EQ(step.bytes, problem.p / 2);
  // The last rank's blocks for ranks 0, 2, 4, .. leave first; block (r, d) is r * p + d.
  EXPECT_EQ(bruck.steps[0].blocks.range, (BlockRange{all - problem.p, all - 1}));
}

}  // namespace
}  // namespace tutti
