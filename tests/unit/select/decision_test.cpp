/// Decisions by settings and rules, and tables by message size.
#include "select/decision.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti {
namespace {

constexpr std::int64_t inf = NumberRange::inf;

/// Decides for 8 ranks on 2 nodes, and notes the cases of the report.
struct Decider {
  Decider(Collective collective, const std::string& asked, const std::string& rules_text = "")
      : setting(*tutti::setting(collective, asked)) {
    features = {collective, 8, 0, 2, 4};
    const std::string text = "{\"schema\": \"tutti-rules-1\", \"rules\": [" + rules_text + "]}";
    rules = *rules_from_text(text, "site.json");
  }
  Decision decide() {
    return decision_for(
        setting, rules, features, {},
        [this](const RuleSpan& span, Bytes least, const std::string& reason) -> CaseOfCall {
          cases.push_back(std::to_string(least) + ".." + to_text(span.rule->use) + ": " + reason);
          return {static_cast<int>(cases.size()), 1, false};
        });
  }

  Setting setting;
  Rules rules;
  Features features;
  std::vector<std::string> cases;
};

Decision decided(Collective collective, const std::string& asked, const std::string& rules = "") {
  return Decider(collective, asked, rules).decide();
}

TEST(Decision, LeavesToTheTunerWhatNothingDecides) {
  const Decision open = decided(Collective::bcast, "auto");
  EXPECT_TRUE(open.is_tuned && open.is_automatic && open.is_native() && open.is_deferred());
  EXPECT_FALSE(open.flat_only);
  EXPECT_EQ(open.text, "native: no measurement shows a faster algorithm");
  EXPECT_TRUE(decided(Collective::bcast, "auto:hierarchy=flat").flat_only);
  const Decision native = decided(Collective::bcast, "native:hierarchy=auto");
  EXPECT_TRUE(native.is_tuned && !native.is_automatic && !native.flat_only);
  EXPECT_FALSE(decided(Collective::bcast, "native").is_tuned);
  EXPECT_FALSE(decided(Collective::rma_bcast, "auto").is_tuned);
  Decider alone(Collective::bcast, "auto");
  alone.features.p = 1;
  EXPECT_FALSE(alone.decide().is_tuned);
}

TEST(Decision, ExploresNeitherFixedNorWholeReductions) {
  Decider reduction(Collective::allreduce, "auto");
  EXPECT_TRUE(reduction.decide().is_tuned);
  reduction.features.whole = true;
  EXPECT_FALSE(reduction.decide().is_tuned);
  reduction.features.whole = false;
  reduction.features.reproducible = true;
  EXPECT_FALSE(reduction.decide().is_tuned);
  EXPECT_TRUE(reduction.decide().specification) << "the fixed algorithm";
  Decider gather(Collective::allgather, "auto");
  gather.features.whole = gather.features.reproducible = true;
  EXPECT_TRUE(gather.decide().is_tuned) << "which reduces nothing";
}

TEST(Decision, IsWhatTheSettingAsksFor) {
  const Decision forced = decided(Collective::bcast, "chain", R"x({"collective": "bcast", "use":
      "linear"})x");
  EXPECT_FALSE(forced.is_deferred() || forced.is_native() || forced.is_automatic);
  EXPECT_EQ(to_text(*forced.specification), "chain");
  EXPECT_EQ(forced.text, "chain: requested");
  EXPECT_EQ(forced.if_flat, nullptr);
}

TEST(Decision, RunsFlatWhereNodesHaveOneRankEach) {
  const Decision asked = decided(Collective::bcast, "hierarchical(chain,leaders=2)");
  EXPECT_EQ(asked.level, (Level{true, 2}));
  EXPECT_FALSE(asked.is_deferred());
  ASSERT_NE(asked.if_flat, nullptr);
  EXPECT_EQ(asked.if_flat->level, Level{});
  EXPECT_EQ(to_text(*asked.if_flat->specification), "chain");
  EXPECT_EQ(asked.if_flat->text, asked.text + "; runs flat because every node has a single rank");
  EXPECT_TRUE(decided(Collective::bcast, "hierarchical(native)").if_flat->is_native());
}

TEST(Decision, HasOneLeaderWithoutARequestForMore) {
  for (const Collective collective : {Collective::bcast, Collective::gatherv}) {
    const Decision asked = decided(collective, "hierarchical(native)");
    EXPECT_EQ(asked.level, (Level{true, 1}));
    EXPECT_FALSE(asked.is_deferred()) << "no call's size decides";
    EXPECT_EQ(asked.text, "hierarchical(native,leaders=1): requested");
  }
}

TEST(Decision, FollowsRulesByMessageSize) {
  Decider ruled(Collective::bcast, "auto", R"x(
      {"collective": "bcast", "bytes": "1K..64K", "use": "chain"},
      {"collective": "bcast", "bytes": "1M..inf", "use": "hierarchical(native)"})x");
  const Decision decision = ruled.decide();
  ASSERT_NE(decision.table, nullptr);
  EXPECT_FALSE(decision.is_tuned || decision.is_automatic);
  EXPECT_EQ(decision.text, "native: rules decide by message size");
  SizeTable& table = *decision.table;
  const auto text_at = [&table](Bytes block) {
    return table.spans[table.find(block, 1)].decision.text;
  };
  EXPECT_EQ(text_at(1023), "native: rules: none for this message size");
  const std::string why = ": rules: selected without a measurement (site.json)";
  EXPECT_EQ(text_at(1024), "chain" + why);
  EXPECT_EQ(text_at(65536), text_at(1024));
  EXPECT_EQ(text_at(65537), text_at(0));
  const Decision& large = table.spans[table.find(Bytes{1} << 50, 1)].decision;
  EXPECT_EQ(large.level, (Level{true, 1})) << "a rule without leaders= uses 1";
  EXPECT_TRUE(large.is_by_rule);
  EXPECT_EQ(ruled.cases,
            (std::vector<std::string>{"1024..chain" + why,
                                      "1048576..hierarchical(native,leaders=1)" + why}));
  EXPECT_EQ(large.measured.id, 2);
  EXPECT_TRUE(table.runs_native(1023));
  EXPECT_FALSE(table.runs_native(1024));
  // A rank with invalid arguments follows its call before; at first one without data.
  EXPECT_EQ(table.index_of({}, 1), table.find(0, 1));
  EXPECT_EQ(table.index_of(2048, 1), table.find(2048, 1));
  EXPECT_EQ(table.index_of({}, 1), table.find(2048, 1));
  EXPECT_EQ(table.native_or(1), 0U);
}

TEST(Decision, NeedsNoTableWhereARuleKeepsTheMpisOwn) {
  const Decision decision =
      decided(Collective::bcast, "auto", R"x({"collective": "bcast", "use": "native"})x");
  EXPECT_FALSE(decision.is_deferred());
  EXPECT_TRUE(decision.is_native());
  EXPECT_EQ(decision.measured.id, 1);
}

TEST(Decision, FollowsRulesByIrregularity) {
  const Decision decision = decided(Collective::allgatherv, "auto", R"x(
      {"collective": "allgatherv", "irregularity": "1..2", "bytes": "1K..inf", "use": "ring"},
      {"collective": "allgatherv", "irregularity": "4..inf", "use": "bruck"})x");
  const SizeTable& table = *decision.table;
  const auto runs = [&table](Bytes block, std::int64_t irregularity) {
    const Decision& found = table.spans[table.find(block, irregularity)].decision;
    return found.specification ? to_text(*found.specification) : "native";
  };
  EXPECT_EQ(runs(0, 1), "native");
  EXPECT_EQ(runs(1024, 1), "ring");
  EXPECT_EQ(runs(inf, 2), "ring");
  EXPECT_EQ(runs(1024, 3), "native");
  EXPECT_EQ(runs(0, 4), "bruck");
  EXPECT_EQ(runs(inf, inf), "bruck");
  EXPECT_FALSE(table.runs_native(0)) << "calls of irregularity 4 run bruck";
  const Decision regular = decided(Collective::allgatherv, "auto", R"x(
      {"collective": "allgatherv", "irregularity": "1..2", "bytes": "1K..inf", "use": "ring"})x");
  EXPECT_TRUE(regular.table->runs_native(0));
  EXPECT_FALSE(regular.table->runs_native(1024));
}

TEST(Decision, OfRulesMakesACaseOfWhatCallsPermitOnly) {
  Decider whole(Collective::allreduce, "auto", R"x({"collective": "allreduce", "use": "ring"})x");
  whole.features.whole = true;
  const Decision refused = whole.decide();
  EXPECT_TRUE(refused.is_native() && refused.table == nullptr);
  EXPECT_TRUE(refused.text.starts_with("native: rules: not ring, because"));
  EXPECT_TRUE(whole.cases.empty());
  EXPECT_TRUE(refused.needs_commutativity) << "as ring needs an operation that commutes";
  Decider flat(Collective::bcast, "auto:hierarchy=flat",
               R"x({"collective": "bcast", "use": "hierarchical(native)"})x");
  EXPECT_TRUE(flat.decide().is_native());
  EXPECT_TRUE(flat.cases.empty());
  whole.features.reproducible = true;
  EXPECT_FALSE(whole.decide().text.starts_with("native: rules:")) << "fixed results follow none";
}

}  // namespace
}  // namespace tutti
