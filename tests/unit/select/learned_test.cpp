/// Kept rules: written, merged, bounded, and read by a later run.
#include "select/learned.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "select/tuning_candidates.hpp"

namespace tutti {
namespace {

const Platform here = {{"openmpi", "4.1.4"}, "ethernet 1000 Mb/s"};
const Features eight = {Collective::allgather, 8, 1024, 2, 4};
constexpr SizeClass kibibyte = 11;  // 513 to 1024 bytes

Setting use(const std::string& text) { return *setting(Collective::allgather, text); }

/// As the tuner numbers them: the MPI's own first.
std::vector<Setting> candidates() {
  std::vector<Setting> all = {flat_native};
  for (const char* text : {"hierarchical(native,leaders=2)", "ring", "bruck"}) {
    all.push_back(use(text));
  }
  return all;
}

Features features_of(SizeClass size_class) {
  Features features = eight;
  features.block = largest_of(size_class);
  return features;
}

Rule learned(int candidate, SizeClass size_class = kibibyte) {
  const Setting selected = candidates()[static_cast<std::size_t>(candidate)];
  return learned_rule(features_of(size_class), selected, {candidate, 2'100'500, 1'000'250, 16, ""});
}

Rules merged(const std::vector<Rule>& rules, const Rules& kept = {},
             const std::string& date = "2026-11-22", std::size_t max_bytes = max_kept_bytes) {
  Rules all;
  for (const Rule& rule : rules) learn(all, rule);
  return merged(kept, all, here, date, max_bytes);
}

std::vector<std::string> dates(const Rules& rules) {
  std::vector<std::string> all;
  for (const Rule& rule : rules.all) all.push_back(rule.evidence.date);
  return all;
}

TEST(KeptRules, AreRules) {
  EXPECT_EQ(to_text(merged({learned(2)})),
            R"({"schema":"tutti-rules-1",
 "rules":[
  {"collective":"allgather","p":"8","nodes":"2","ranks_per_node":"4","bytes":"513..1K","mpi":"openmpi","version":"4.1.4","network":"ethernet 1000 Mb/s","use":"ring","evidence":{"native_us":2100.5,"choice_us":1000.25,"calls":16,"date":"2026-11-22"}}
 ]}
)");
}

TEST(KeptRules, HaveTheIntervalsOfTheirMedians) {
  const TuningEvidence measured = {
      1, 2'000'000, 1'000'000, 16, "", MedianInterval{1'900'500, 2'100'000, 0.97}, {}};
  const Rules written = merged({learned_rule(eight, use("ring"), measured)});
  EXPECT_NE(to_text(written).find(R"("native_interval_us":[1900.5,2100],"choice_us":1000,)"),
            std::string::npos);
  const Result<Rules> read = rules_from_text(to_text(written), "");
  ASSERT_TRUE(read) << read.error();
  const TuningEvidence evidence = evidence_of(read->all.at(0));
  ASSERT_TRUE(evidence.native_interval);
  EXPECT_EQ(evidence.native_interval->least, 1'900'500);
  EXPECT_EQ(evidence.native_interval->most, 2'100'000);
  EXPECT_EQ(evidence.native_interval->confidence, 0.95);
  EXPECT_FALSE(evidence.choice_interval);
}

TEST(KeptRules, HaveAFileOfThisVersion) {
  EXPECT_EQ(std::string(kept_rules_name), std::string("learned-") + TUTTI_VERSION + ".json");
}

TEST(KeptRules, NameEveryCandidateForTheNextRun) {
  for (int candidate = 0; candidate < 4; ++candidate) {
    for (const SizeClass size_class : {0, 1, 2, kibibyte, size_classes - 2}) {
      const Rules written = merged({learned(candidate, size_class)});
      const Result<Rules> read = rules_from_text(to_text(written), "");
      ASSERT_TRUE(read) << read.error();
      const Rules kept = kept_for(*read, 8, here);
      ASSERT_EQ(kept.all.size(), 1U);
      const Rule& rule = kept.all[0];
      Features larger = features_of(size_class);
      EXPECT_TRUE(holds_for(rule, larger));
      ++larger.block;
      EXPECT_FALSE(holds_for(rule, larger));
      EXPECT_EQ(class_of(rule.bytes.most), size_class);
      EXPECT_EQ(rule.use, candidates()[static_cast<std::size_t>(candidate)]);
      const TuningEvidence evidence = evidence_of(rule);
      EXPECT_EQ(evidence.candidate, candidate == 0 ? 0 : 1);
      EXPECT_EQ(evidence.native, 2'100'500);
      EXPECT_EQ(evidence.choice, 1'000'250);
      EXPECT_EQ(evidence.calls, 16);
      EXPECT_EQ(evidence.date, "2026-11-22");
    }
  }
}

TEST(KeptRules, HoldForTheSameJobOnly) {
  const Rules kept = merged({learned(2)});
  EXPECT_TRUE(kept_for(kept, 9, here).all.empty());
  EXPECT_TRUE(kept_for(kept, 8, {{"openmpi", "4.1.5"}, here.network}).all.empty());
  EXPECT_TRUE(kept_for(kept, 8, {{"mpich", "4.1.4"}, here.network}).all.empty());
  EXPECT_TRUE(kept_for(kept, 8, {here.mpi, "mlx5 100 Gb/sec (4X EDR)"}).all.empty());
  Rules of_several = kept;
  of_several.all.at(0).p = {4, 64};
  EXPECT_TRUE(kept_for(of_several, 8, here).all.empty());
  Rules of_any = kept;
  of_any.all.at(0).mpi.clear();
  EXPECT_TRUE(kept_for(of_any, 8, here).all.empty());
  const Rule rule = kept_for(kept, 8, here).all.at(0);
  EXPECT_FALSE(holds_for(rule, {Collective::allgather, 8, 1024, 4, 4}));
  EXPECT_FALSE(holds_for(rule, {Collective::allgather, 8, 1024, 2, 5}));
  EXPECT_TRUE(holds_for(rule, eight));
  EXPECT_FALSE(holds_for(rule, {Collective::alltoall, 8, 1024, 2, 4}));
}

TEST(KeptRules, RunWhereTheProgramPermitsIt) {
  for (const Setting& candidate : candidates()) EXPECT_TRUE(may_run(candidate, eight));
  Features other = eight;
  other.ranks_per_node = 1;
  EXPECT_FALSE(may_run(use("hierarchical(native,leaders=2)"), other));
  other = eight;
  other.flat_only = true;
  EXPECT_FALSE(may_run(use("hierarchical(ring,leaders=1)"), other));
  EXPECT_TRUE(may_run(use("ring"), other));
  other = eight;
  other.native_only = true;
  EXPECT_FALSE(may_run(use("ring"), other));
  EXPECT_TRUE(may_run(use("hierarchical(native,leaders=4)"), other));
  EXPECT_FALSE(may_run(use("hierarchical(native,leaders=5)"), eight));
  EXPECT_FALSE(may_run(use("ring:order=distance"), eight));
}

TEST(KeptRules, AreReplacedByWhatIsLearnedLater) {
  const Rules before = merged({learned(2), learned(3, 5)}, {}, "2026-01-01");
  const Rules after = merged({learned(1)}, before);
  EXPECT_EQ(dates(after), (std::vector<std::string>{"2026-01-01", "2026-11-22"}));
  EXPECT_EQ(to_text(after.all.at(0).use), "bruck");
  EXPECT_EQ(to_text(after.all.at(1).use), "hierarchical(native,leaders=2)");
}

TEST(KeptRules, OfOtherPlatformsStay) {
  const Platform other = {here.mpi, "cxi"};
  const Rules before = merged({}, Rules{{learned(2)}, {}}, other, "2026-01-01");
  const Rules after = merged({learned(1)}, before);
  EXPECT_EQ(after.all.size(), 2U);
  EXPECT_EQ(kept_for(after, 8, other).all.at(0).evidence.date, "2026-01-01");
}

TEST(KeptRules, ThatDoNotHoldAnyMoreGo) {
  const Rules before = merged({learned(2), learned(3, 5)}, {}, "2026-01-01");
  Rule gone = learned(2);
  gone.use = {};
  const Rules after = merged({gone}, before);
  ASSERT_EQ(after.all.size(), 1U);
  EXPECT_EQ(class_of(after.all[0].bytes.most), 5);
}

TEST(KeptRules, OfTheLatestCommunicatorCount) {
  const Rules kept = merged({learned(2), learned(3)});
  ASSERT_EQ(kept.all.size(), 1U);
  EXPECT_EQ(to_text(kept.all[0].use), "bruck");
}

TEST(KeptRules, OfTheCommunicatorWithMoreCallsCount) {
  Rule fewer = learned(3);
  fewer.evidence.calls = 15;
  const Rule gone = learned_rule(features_of(kibibyte), Setting{}, {});
  for (const Rule& other : {fewer, gone}) {
    for (const auto& both : {std::vector{learned(2), other}, std::vector{other, learned(2)}}) {
      const Rules kept = merged(both);
      ASSERT_EQ(kept.all.size(), 1U);
      EXPECT_EQ(to_text(kept.all[0].use), "ring");
    }
  }
}

TEST(KeptRules, TheOldestGoFirst) {
  Rules kept;
  for (SizeClass size_class = 0; size_class < 20; ++size_class) {
    kept = merged({learned(2, size_class)}, kept, "2026-01-" + std::to_string(10 + size_class));
  }
  const std::size_t whole = to_text(kept).size();
  EXPECT_EQ(merged({}, kept, "", whole).all.size(), 20U);
  const Rules fewer = merged({}, kept, "", whole - 1);
  EXPECT_EQ(fewer.all.size(), 19U);
  EXPECT_EQ(fewer.all.front().evidence.date, "2026-01-11");
  EXPECT_LE(to_text(fewer).size(), whole - 1);
  const Rules latest = merged({learned(1, 40)}, kept, "2026-11-22", 700);
  EXPECT_EQ(latest.all.back().evidence.date, "2026-11-22");
  EXPECT_LE(to_text(latest).size(), 700U);
  EXPECT_TRUE(merged({}, kept, "", 100).all.empty());
}

/// Are they among these?
std::function<bool(SizeClass)> among(const std::set<SizeClass>& kept) {
  return [kept](SizeClass one) { return kept.contains(one); };
}

TEST(ClassByMean, BeginsWithAKeptOneBesideIt) {
  EXPECT_EQ(class_by_mean(11, 0, {}, among({})), 11);
  EXPECT_EQ(class_by_mean(11, 0, {}, among({12})), 12);
  EXPECT_EQ(class_by_mean(11, 0, {}, among({10})), 10);
  EXPECT_EQ(class_by_mean(11, 0, {}, among({10, 11, 12})), 11);
  EXPECT_EQ(class_by_mean(11, 0, {}, among({9, 13})), 11);
}

TEST(ClassByMean, FollowsAnotherThatTwoWindowsInTurnShow) {
  EXPECT_EQ(class_by_mean(12, 11, 11, among({})), 11) << "beside the latest";
  EXPECT_EQ(class_by_mean(10, 11, 10, among({})), 11) << "the same";
  EXPECT_EQ(class_by_mean(14, 11, 11, among({})), 11) << "one window";
  EXPECT_EQ(class_by_mean(14, 11, 13, among({})), 14);
  EXPECT_EQ(class_by_mean(14, 11, 14, among({13})), 14)
      << "only the first window looks for kept ones";
}

}  // namespace
}  // namespace tutti
