/// Which candidates are explored, and in which sequence.
#include "select/tuning_candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "algorithms/problems.hpp"
#include "cost/simulate.hpp"
#include "unit/hierarchical_collectives.hpp"

namespace tutti {
namespace {

std::vector<std::string> names_of(const Features& features) {
  std::vector<std::string> names;
  for (const Setting& setting : tuning_candidates(features, {})) names.push_back(to_text(setting));
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(TuningCandidates, BeginWithTheMpisOwnAndHierarchicalOnes) {
  for (const Collective collective : hierarchical_collectives) {
    const auto all = tuning_candidates({collective, 12, 1024, 4, 3}, {});
    ASSERT_GE(all.size(), 4U) << name_of(collective);
    EXPECT_EQ(all[0], flat_native);
    EXPECT_EQ(all[1].level, (Level{true, 1}));
    EXPECT_EQ(all[2].level, (Level{true, 2}));
    EXPECT_NE(all[3].level, (Level{true, 4})) << "a node has 3 ranks";
  }
}

TEST(TuningCandidates, AreFlatWithoutAHierarchicalForm) {
  for (const Setting& setting : tuning_candidates({Collective::scan, 12, 1024, 4, 3}, {})) {
    EXPECT_FALSE(setting.asks_for_hierarchical());
  }
  EXPECT_FALSE(setting(Collective::exscan, "hierarchical(linear)"));
}

TEST(TuningCandidates, ComeFromTheListWithoutArrivalsDistancesAndThreads) {
  for (const Collective collective : matched_collectives) {
    const auto all = tuning_candidates({collective, 8, 1024}, {});
    EXPECT_GE(all.size(), 2U) << name_of(collective);
    for (const Setting& setting : all) {
      EXPECT_FALSE(setting.asks_for_hierarchical());
      if (setting.kind == Setting::Kind::native) continue;
      EXPECT_FALSE(setting.specification.needs_arrivals());
      EXPECT_FALSE(setting.specification.needs_distances());
      EXPECT_EQ(setting.specification.runner, Runner::caller);
    }
  }
}

TEST(TuningCandidates, AreReadAsTheyAreWritten) {
  for (const Collective collective : matched_collectives) {
    for (const Setting& one : tuning_candidates({collective, 12, 1024, 4, 3}, {})) {
      EXPECT_EQ(*setting(collective, to_text(one)), one) << to_text(one);
    }
  }
}

TEST(TuningCandidates, HaveTheUsefulParametersOfTheList) {
  const auto names = names_of({Collective::bcast, 16, 1024});
  EXPECT_TRUE(has(names, "knomial:k=4"));
  EXPECT_TRUE(has(names, "knomial:k=8"));
  EXPECT_TRUE(has(names, "binomial"));
  EXPECT_FALSE(has(names, "knomial")) << "which is the same with k = 2";
  EXPECT_FALSE(has(names_of({Collective::bcast, 8, 1024}), "knomial:k=8")) << "it is linear";
  EXPECT_TRUE(has(names_of({Collective::bcast, 8, Bytes{1} << 20}), "chain:parts=16"));
}

TEST(TuningCandidates, TakeLongerToListTheMoreRanksAreModelled) {
  Features features = {.collective = Collective::gather, .p = 16};
  const double few = cost_of_listing(features, false);
  EXPECT_DOUBLE_EQ(cost_of_listing(features, true), few);
  features.p = 1024;
  EXPECT_DOUBLE_EQ(cost_of_listing(features, false), few) << "16 are modelled";
  EXPECT_DOUBLE_EQ(cost_of_listing(features, true), 64 * few);
  features.arrivals.assign(1024, 0);
  EXPECT_DOUBLE_EQ(cost_of_listing(features, false), few) << "too many to model";
  features.p = 128;
  features.arrivals.resize(128);
  EXPECT_DOUBLE_EQ(cost_of_listing(features, false), 8 * few);
}

TEST(TuningCandidates, LeaveNodeMemoryToTheEndWhereArrivalsAreExchanged) {
  Features features = {Collective::gather, 8, 1024, 1, 8};
  EXPECT_TRUE(names_of(features)[1].starts_with("hierarchical(native"));
  features.knows_arrivals = true;
  const auto names = names_of(features);
  EXPECT_FALSE(names[1].starts_with("hierarchical("));
  EXPECT_TRUE(has(names, "hierarchical(native,leaders=4)"));
}

TEST(TuningCandidates, FollowWhatTheUserAllows) {
  Features features = {Collective::bcast, 8, 9, 2, 4};
  features.native_only = true;
  EXPECT_EQ(names_of(features).size(), 4U);
  features.native_only = false;
  features.flat_only = true;
  const auto flat = names_of(features);
  EXPECT_FALSE(std::any_of(flat.begin(), flat.end(),
                           [](const std::string& name) { return name.starts_with("hier"); }));
}

TEST(TuningCandidates, StayWithinTheMemoryOfStaging) {
  const Features features = {Collective::alltoall, 8, 1024};
  EXPECT_TRUE(has(names_of(features), "bruck"));
  Features bounded = features;
  bounded.staging = 1024;
  EXPECT_FALSE(has(names_of(bounded), "bruck"));
}

TEST(TuningCandidates, LeaveOutWhatTheModelFindsHopeless) {
  // 63 messages of 1 MiB from the root one after the other.
  const auto large = names_of({Collective::bcast, 64, Bytes{1} << 20});
  EXPECT_FALSE(has(large, "linear"));
  EXPECT_TRUE(has(large, "scatter_allgather"));
  EXPECT_TRUE(has(names_of({Collective::bcast, 3, 1}), "linear"));
}

TEST(TuningCandidates, AreModelledWithAllRanks) {
  // 2 (p - 1) messages one after the other: as many as 5 doublings at 4 ranks, 60 times at 256.
  EXPECT_TRUE(has(names_of({Collective::allreduce, 4, 8}), "ring"));
  EXPECT_FALSE(has(names_of({Collective::allreduce, 256, 8}), "ring"));
  EXPECT_TRUE(has(names_of({Collective::allreduce, 256, Bytes{1} << 30}), "ring"));
  EXPECT_TRUE(has(names_of({Collective::allreduce, 256, 8}), "recursive_doubling"));
}

/// The product of the times of all ranks' whole schedules on a fast and on a slow network, each
/// summed over an outer and an inner root.
double whole_price(const Features& features, const Specification& point) {
  const std::vector<Bytes> blocks(static_cast<std::size_t>(features.p), features.block);
  double fast = 0;
  double slow = 0;
  for (const Rank root : {0, has_root(features.collective) ? features.p / 2 : 0}) {
    const Problems problems(point, Call{features.collective, root, blocks});
    const std::vector<Schedule> schedules = problems.schedules();
    fast += *price(schedules, Machine{}, PriceModel::loggp);
    slow += *price(schedules, slow_network(Machine{}), PriceModel::loggp);
  }
  return fast * slow;
}

/// Few ranks get a short message sooner in one round of many messages, many ranks along a tree.
TEST(TuningCandidates, OfShortCallsAreSortedByTheirRounds) {
  for (const Collective collective : {Collective::bcast, Collective::gather, Collective::scatter,
                                      Collective::allgather, Collective::alltoall}) {
    EXPECT_EQ(names_of({collective, 8, 8})[1], "linear") << name_of(collective);
    EXPECT_FALSE(has(names_of({collective, 256, 8}), "linear")) << name_of(collective);
  }
}

TEST(TuningCandidates, OfManyPartsAreSortedAsIfEachPartWereModelled) {
  for (const Collective collective :
       {Collective::bcast, Collective::reduce, Collective::scan, Collective::exscan}) {
    for (const int p : {5, 8, 16}) {
      for (const Bytes block : {Bytes{1} << 17, Bytes{3} << 19, Bytes{1} << 23}) {
        std::map<const Algorithm*, double> before;  // of the variants of one algorithm
        for (const Setting& one : tuning_candidates({collective, p, block}, {})) {
          if (one.kind == Setting::Kind::native) continue;
          const double price = whole_price({collective, p, block}, one.specification);
          double& latest = before[one.specification.algorithm];
          // Prices as close as that may change places.
          EXPECT_GE(price, latest / 1.1) << name_of(collective) << ", " << p << " ranks, " << block
                                         << " bytes: " << to_text(one);
          latest = price;
        }
      }
    }
  }
}

TEST(TuningCandidates, HaveOtherAlgorithmsBetweenTheVariantsOfOne) {
  const auto names = names_of({Collective::reduce, 8, Bytes{1} << 20});
  const auto place = [&](const std::string& name) {
    return std::ranges::find(names, name) - names.begin();
  };
  EXPECT_TRUE(names[1].starts_with("circulant")) << names[1];
  EXPECT_TRUE(names[2].starts_with("chain")) << names[2];
  EXPECT_LT(place("scatter_gather"), place("circulant:parts=4"));
}

/// 8 ranks, of which rank 5 is 10 ms late.
Features with_a_late_rank(Collective collective, bool has_threads) {
  Features features = {collective, 8, Bytes{1} << 20, 2, 4};
  features.knows_arrivals = true;
  features.has_background = has_threads;
  features.arrivals = {0, 0, 0, 0, 0, 10e-3, 0, 0};
  return features;
}

TEST(TuningCandidates, FollowArrivalsThatAreExchanged) {
  for (const Collective collective :
       {Collective::gather, Collective::gatherv, Collective::scatter, Collective::scatterv}) {
    const auto late = names_of(with_a_late_rank(collective, false));
    EXPECT_TRUE(has(late, "binomial:order=arrival")) << name_of(collective);
    EXPECT_FALSE(late[1].starts_with("hierarchical(")) << "whose ranks wait for each other";
    for (const std::string& name : late) {
      EXPECT_EQ(name.find("background"), std::string::npos) << name;
    }
  }
  const auto gather = names_of(with_a_late_rank(Collective::gather, false));
  EXPECT_TRUE(has(gather, "binomial:order=late_leaf"));
}

TEST(TuningCandidates, RunInTheBackgroundWhereEveryRankHasAThread) {
  const std::string pull = "linear_pull:runner=background,flight=4";
  // All other blocks are there before the late rank is.
  EXPECT_TRUE(has(names_of(with_a_late_rank(Collective::gather, true)), pull));
  for (const Collective collective : {Collective::gather, Collective::scatter}) {
    const auto first = tuning_candidates(with_a_late_rank(collective, true), {})[1];
    EXPECT_EQ(to_text(first), pull) << "which needs no forecast";
  }
  // A thread cannot wait for the sizes of other ranks.
  const auto irregular = names_of(with_a_late_rank(Collective::gatherv, true));
  EXPECT_TRUE(has(irregular, pull));
  EXPECT_FALSE(has(irregular, "binomial:order=late_leaf,runner=background"));
}

TEST(TuningCandidates, OfAnEarlierRunNeedTheSameKnowledge) {
  const Setting kept = *setting(Collective::gather, "linear_pull:flight=4,runner=background");
  EXPECT_TRUE(may_run(kept, with_a_late_rank(Collective::gather, true)));
  EXPECT_FALSE(may_run(kept, with_a_late_rank(Collective::gather, false)));
  EXPECT_FALSE(may_run(*setting(Collective::gather, "SBN"), {Collective::gather, 8, 1024}));
}

}  // namespace
}  // namespace tutti
